#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/concepts/schedule.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/train/checkpoint_options.hpp>
#include <seqtrain/train/pairs.hpp>
#include <seqtrain/train/selection.hpp>

namespace seqtrain::train {

/// Says what a fit does with a step whose gradients are not finite: it ends, or it skips the step.
/// The optimizer never takes such a step.
enum class OnNonfinite { stop, skip };

/// Options of `Trainer::fit`. Fields that Hugging Face's TrainingArguments also has carry the names
/// it gives them.
struct FitOptions {
  /// Passes over the training data.
  std::int64_t epochs = 2;
  /// Optimizer steps of the whole run. If above 0, it replaces `epochs`, and the data is repeated
  /// as often as needed.
  std::int64_t max_steps = 0;
  /// The number of batches whose gradients make one step. One large batch of their examples would
  /// give an equal step. The last step of an epoch may have fewer.
  std::int64_t gradient_accumulation_steps = 1;
  /// The largest common 2-norm of the gradients. Larger gradients are scaled down to it.
  double max_grad_norm = std::numeric_limits<double>::infinity();
  /// The schedule that scales the optimizer's learning rate over the steps of the run.
  optim::Schedule schedule = {};
  OnNonfinite on_nonfinite = OnNonfinite::stop;
  /// The fit ends after this many epochs in a row without a better dev evaluation; 0 turns early
  /// stopping off.
  std::int64_t early_stopping_patience = 0;
  /// The name of the figure that decides which epoch is best, for early stopping and `BestModel`.
  /// Empty means the default of `Selection`. A user's metric has the name that it returns.
  std::string metric_for_best_model = {};
  /// Tells whether a larger value of that figure is better. By default its name decides, see
  /// `Selection`.
  std::optional<bool> greater_is_better = {};
  /// Options of checkpoints in the trainer's sink, which must be a `Store`. By default there are
  /// none.
  CheckpointOptions checkpoint = {};
  /// Further values that a resumed run must repeat, such as checksums of files.
  Pairs more_settings = {};
  /// When a stop is requested, the fit finishes its step, saves if it keeps checkpoints, and throws
  /// `Stopped`.
  std::stop_token stop = {};

  [[nodiscard]] Selection selection() const { return {metric_for_best_model, greater_is_better}; }

  /// Returns the learning rate's scale, the clipping norm and the momentum for `step` (counted from
  /// 0) of `steps`.
  [[nodiscard]] optim::Step step(std::int64_t step, std::int64_t steps) const {
    return {.lr_scale = schedule.lr_scale(step, steps),
            .max_grad_norm = max_grad_norm,
            .momentum = schedule.momentum(step, steps)};
  }

  void validate() const;

  /// Returns the options that a resumed run must repeat: all that determine the result except its
  /// length.
  [[nodiscard]] Pairs settings() const;
};

/// The length of a run in epochs, optimizer steps and batches.
struct RunLength {
  std::int64_t epochs = 0;  ///< epochs, including one that `max_steps` cuts short
  std::int64_t steps = 0;   ///< optimizer steps
  std::int64_t batches = 0;
};

/// Counts a run's epochs, steps and batches. Throws `InputError` if the loader has no examples.
template <class L>
RunLength run_length(L& loader, const FitOptions& options) {
  if (loader.examples() == 0) throw InputError{"there are no examples to train on"};
  const std::int64_t window = options.gradient_accumulation_steps;
  RunLength run;
  while (options.max_steps > 0 ? run.steps < options.max_steps : run.epochs < options.epochs) {
    const std::int64_t batches = loader.batches_in(run.epochs++);
    run.steps += (batches + window - 1) / window;
    run.batches += batches;
  }
  if (options.max_steps > 0) run.steps = options.max_steps;
  run.batches = std::min(run.batches, run.steps * window);
  return run;
}

}  // namespace seqtrain::train

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/train/src/options.hpp>
#endif
