#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <stop_token>

#include <seqtrain/core/error.hpp>
#include <seqtrain/optim/schedule.hpp>

namespace seqtrain::train {

/// What becomes of a step whose gradients are not finite. Either way it is not taken.
enum class OnNonfinite { stop, skip };

/// How long and in which steps a `Trainer` fits. Field names are those of Hugging Face's
/// TrainingArguments where it has one.
struct FitOptions {
  std::int64_t epochs = 2;
  /// Optimizer steps of the whole run; if above 0 it decides instead of `epochs`, and the data is
  /// gone through as often as that takes.
  std::int64_t max_steps = 0;
  /// Batches whose gradients make one step. The step equals that of one batch of all their
  /// examples, also in the shorter window at an epoch's end.
  std::int64_t gradient_accumulation_steps = 1;
  double max_grad_norm = std::numeric_limits<double>::infinity();
  optim::Schedule schedule = {};
  OnNonfinite on_nonfinite = OnNonfinite::stop;
  /// Epochs in a row without a better dev `score` after which the fit ends; 0: it goes on.
  std::int64_t early_stopping_patience = 0;
  /// Whether the model ends as it was after the epoch with the best dev `score`.
  bool best_model = false;
  /// When a stop is requested, the fit comes to a safe point, tells its observers and throws
  /// `Stopped`.
  std::stop_token stop = {};

  void validate() const {
    const auto demand = [](bool good, const char* field, const char* expected) {
      if (!good) throw InputError{expected, {.object = "fit", .field = field}};
    };
    demand(epochs >= 1 || max_steps >= 1, "epochs", "must be at least 1");
    demand(max_steps >= 0, "max_steps", "must not be negative");
    demand(gradient_accumulation_steps >= 1, "gradient_accumulation_steps", "must be at least 1");
    demand(early_stopping_patience >= 0, "early_stopping_patience", "must not be negative");
    demand(max_grad_norm > 0, "max_grad_norm", "must be above 0");
    schedule.validate();
  }
};

}  // namespace seqtrain::train
