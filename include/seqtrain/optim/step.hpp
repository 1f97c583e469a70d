#pragma once

#include <limits>

namespace seqtrain::optim {

/// What an optimizer is told at each step.
struct Step {
  double lr_scale = 1;  ///< the schedule's factor on the learning rate
  /// Gradients are scaled down so that their common 2-norm is at most this.
  double max_grad_norm = std::numeric_limits<double>::infinity();
};

}  // namespace seqtrain::optim
