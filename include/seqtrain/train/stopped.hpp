#pragma once

#include <stdexcept>

namespace seqtrain::train {

/// A run has ended early because it was told to. It is no `Error`: what could be saved is saved.
class Stopped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace seqtrain::train
