#pragma once

#include <seqtrain/kernels/adam.hpp>

namespace seqtrain::tests {

/// Returns the factors of a step in the tests of Adam's kernels, with this coupled weight decay.
constexpr kernels::AdamFactors adam_factors(float added_value) {
  return {.gradient = 0.5F,
          .added_value = added_value,
          .kept_value = 0.99F,
          .new_part1 = 0.1F,
          .beta2 = 0.999F,
          .new_part2 = 0.001F,
          .step_size = 0.02F,
          .root_factor = 1.5F,
          .eps = 1e-8F};
}

}  // namespace seqtrain::tests
