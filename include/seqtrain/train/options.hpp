#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>

#include <seqtrain/core/error.hpp>
#include <seqtrain/optim/schedule.hpp>
#include <seqtrain/train/checkpoint_options.hpp>
#include <seqtrain/train/selection.hpp>

namespace seqtrain::train {

/// What a fit does where a step's gradients are not finite. Either way the step is not taken.
enum class OnNonfinite { stop, skip };

/// How long and in which steps a `Trainer` fits. Field names are those of Hugging Face's
/// TrainingArguments where it has one.
struct FitOptions {
  std::int64_t epochs = 2;
  /// Optimizer steps of the whole run. Above 0 it decides instead of `epochs`, and the data is used
  /// as often as that takes.
  std::int64_t max_steps = 0;
  /// Batches whose gradients make one step. The step equals that of one batch of all their
  /// examples, also in the shorter window at an epoch's end.
  std::int64_t gradient_accumulation_steps = 1;
  double max_grad_norm = std::numeric_limits<double>::infinity();
  optim::Schedule schedule = {};
  OnNonfinite on_nonfinite = OnNonfinite::stop;
  /// Epochs in a row without a better dev evaluation after which the fit ends; 0: it goes on.
  std::int64_t early_stopping_patience = 0;
  /// The metric that says which epoch is best, for early stopping and `BestModel`; empty for the
  /// default of `Selection`. A user's own metric has its own name.
  std::string metric_for_best_model = {};
  std::optional<bool> greater_is_better = {};
  /// Checkpoints in the trainer's sink, which must be a `Store`. None by default.
  CheckpointOptions checkpoint = {};
  /// When a stop is requested, the fit finishes its step, saves it and throws `Stopped`.
  std::stop_token stop = {};

  [[nodiscard]] Selection selection() const { return {metric_for_best_model, greater_is_better}; }

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
    checkpoint.validate();
  }

  /// Returns the options that determine the result, except the length of the run, for a checkpoint
  /// to be compared with.
  [[nodiscard]] Pairs settings() const {
    const auto exact = [](double value) {
      char text[32];
      std::snprintf(text, sizeof text, "%.17g", value);
      return std::string{text};
    };
    return {
        {"gradient_accumulation_steps", std::to_string(gradient_accumulation_steps)},
        {"max_grad_norm", exact(max_grad_norm)},
        {"lr_scheduler_type", std::string{name(schedule.type)}},
        {"warmup_steps", std::to_string(schedule.warmup_steps)},
        {"warmup_ratio", exact(schedule.warmup_ratio)},
        {"on_nonfinite", on_nonfinite == OnNonfinite::skip ? "skip" : "stop"},
        {"early_stopping_patience", std::to_string(early_stopping_patience)},
        {"metric_for_best_model", metric_for_best_model},
        {"greater_is_better", greater_is_better ? (*greater_is_better ? "true" : "false") : ""}};
  }
};

}  // namespace seqtrain::train
