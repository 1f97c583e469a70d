#pragma once

#include <stdexcept>

namespace seqtrain::train {

/// Thrown when a fit, an evaluation or an upload ends early on request. It is not an `Error`. A fit
/// that keeps checkpoints has saved one.
class Stopped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace seqtrain::train
