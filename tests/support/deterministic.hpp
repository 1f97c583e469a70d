#pragma once

#include <ATen/Context.h>

namespace seqtrain::tests {

/// Restores torch's choice of algorithms at its end.
struct DeterminismRestored {
  DeterminismRestored() = default;
  DeterminismRestored(const DeterminismRestored&) = delete;
  DeterminismRestored& operator=(const DeterminismRestored&) = delete;
  ~DeterminismRestored() {
    at::globalContext().setDeterministicAlgorithms(false, false);
    at::globalContext().setDeterministicFillUninitializedMemory(true);
  }
};

}  // namespace seqtrain::tests
