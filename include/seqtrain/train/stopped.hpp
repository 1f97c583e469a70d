#pragma once

#include <stdexcept>

namespace seqtrain::train {

/// Thrown when a fit, an evaluation or an upload ends early on request. It is no `Error`: what
/// could be saved is saved.
class Stopped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace seqtrain::train
