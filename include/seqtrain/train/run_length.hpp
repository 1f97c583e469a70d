#pragma once

#include <cstdint>

#include <seqtrain/core/error.hpp>
#include <seqtrain/train/options.hpp>

namespace seqtrain::train {

/// The length of a run in epochs and optimizer steps.
struct RunLength {
  std::int64_t epochs = 0;  ///< epochs, including one that `max_steps` cuts short
  std::int64_t steps = 0;   ///< optimizer steps
};

/// Counts a run's epochs and steps. Throws `InputError` if the loader has no examples.
template <class L>
RunLength run_length(L& loader, const FitOptions& options) {
  if (loader.examples() == 0) throw InputError{"there are no examples to train on"};
  const std::int64_t window = options.gradient_accumulation_steps;
  RunLength run;
  while (options.max_steps > 0 ? run.steps < options.max_steps : run.epochs < options.epochs) {
    run.steps += (loader.batches_in(run.epochs++) + window - 1) / window;
  }
  if (options.max_steps > 0) run.steps = options.max_steps;
  return run;
}

}  // namespace seqtrain::train
