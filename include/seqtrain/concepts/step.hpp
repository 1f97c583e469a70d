#pragma once

#include <limits>
#include <optional>

namespace seqtrain::optim {

/// The arguments of an optimizer's step.
struct Step {
  double lr_scale = 1;  ///< the schedule's factor on the learning rate
  /// Gradients are scaled down so that their common 2-norm is at most this.
  double max_grad_norm = std::numeric_limits<double>::infinity();
  std::optional<double> momentum = {};  ///< replaces Adam's beta1 in this step
};

}  // namespace seqtrain::optim
