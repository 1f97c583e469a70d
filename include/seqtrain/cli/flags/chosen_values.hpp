#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/cli/flags/training.hpp>
#include <seqtrain/run/trials.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::cli {

/// The size of a run decides its default length and learning rate.
struct RunSize {
  std::size_t examples = 0;         ///< the number of training examples, at least 1
  std::int64_t hidden_size = 768;   ///< the size of the encoder's hidden states
  std::int64_t step_examples = 16;  ///< the number of examples in a step
  bool trains_few = false;          ///< only adapters and the head, or only the head, are trained
  bool has_new_head = false;        ///< the checkpoint lacks the head, or a part of it
  std::size_t labels = 2;           ///< the number of labels, or of targets of a regression
  bool regression = false;
};

/// Returns the number of steps in an epoch.
inline std::int64_t steps_of_epoch(const RunSize& size) {
  return (static_cast<std::int64_t>(size.examples) + size.step_examples - 1) / size.step_examples;
}

/// Returns the number of epochs of a run without `--epochs`: at least 3, and on few examples more,
/// up to 20, so that the run has some 300 steps. Beyond 50,000 examples it is 2. docs/defaults.md
/// has the study.
inline std::int64_t chosen_epochs(const RunSize& size) {
  constexpr std::int64_t least_steps = 300;
  if (size.examples > 50'000) return 2;
  const auto of_epoch = steps_of_epoch(size);
  return std::clamp<std::int64_t>((least_steps + of_epoch / 2) / of_epoch, 3, 20);
}

/// Returns a rate with two digits, which are precise enough.
inline double two_digits(double rate) {
  std::array<char, 16> digits{};
  std::snprintf(digits.data(), digits.size(), "%.1e", rate);
  return std::strtod(digits.data(), nullptr);
}

/// Returns the learning rate of a run without `--learning-rate`. The larger the encoder, the lower
/// is its rate: 5e-5 at BERT-base's size, 1e-4 at MiniLM's. Adapters and heads alone learn at ten
/// times the rate. docs/defaults.md has the study.
inline double chosen_learning_rate(const RunSize& size) {
  const double of_base = 768.0 / static_cast<double>(size.hidden_size);
  return two_digits(std::clamp(5e-5 * of_base, 1e-5, 1e-4) * (size.trains_few ? 10 : 1));
}

/// Changes the length and the learning rate to those of a trial, and returns these flags with their
/// values. A trial's shorter runs count steps, with a schedule of their own and as large a
/// share of warmup.
inline train::Pairs take_trial(TrainingFlags& flags, const RunSize& size, const run::Trial& trial) {
  train::Pairs chosen;
  if (trial.values.learning_rate != 1) {
    flags.learning_rate = two_digits(flags.learning_rate * trial.values.learning_rate);
    chosen.emplace_back("learning-rate", flag_text(flags.learning_rate));
  }
  const auto scaled = [](std::int64_t count, double factor) {
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(count) * factor));
  };
  if (flags.epochs && trial.values.epochs != 1) {
    flags.epochs = scaled(*flags.epochs, trial.values.epochs);
    chosen.emplace_back("epochs", flag_text(*flags.epochs));
  }
  if (trial.share < 1) {
    const auto whole = flags.max_steps > 0 ? flags.max_steps : *flags.epochs * steps_of_epoch(size);
    flags.max_steps = scaled(whole, trial.share);
    chosen.emplace_back("max-steps", flag_text(flags.max_steps));
    if (flags.warmup_steps > 0) {
      flags.warmup_steps = scaled(flags.warmup_steps, trial.share);
      chosen.emplace_back("warmup-steps", flag_text(flags.warmup_steps));
    }
  }
  return chosen;
}

/// Tells whether the head learns at ten times the rate of a run without `--learning-rate` and
/// `--head-learning-rate`. A new head of six labels or more, or of a regression, does.
/// docs/defaults.md has the study.
inline bool has_fast_head(const RunSize& size) {
  constexpr std::size_t many_labels = 6;
  return size.has_new_head && !size.trains_few && (size.regression || size.labels >= many_labels);
}

/// Tells whether `choose_values` chooses a learning rate for the head.
inline bool chooses_rate_of_head(const TrainingFlags& flags, const RunSize& size) {
  return std::isnan(flags.learning_rate) && std::isnan(flags.head_learning_rate) &&
         has_fast_head(size);
}

/// Sets the number of epochs and the learning rates if they are not given, and those of a trial.
/// Returns these flags with their values.
inline train::Pairs choose_values(TrainingFlags& flags, const RunSize& size) {
  train::Pairs chosen;
  const bool chooses_head = chooses_rate_of_head(flags, size);
  if (!flags.epochs && flags.max_steps == 0) {
    flags.epochs = chosen_epochs(size);
    chosen.emplace_back("epochs", flag_text(*flags.epochs));
  }
  if (std::isnan(flags.learning_rate)) {
    flags.learning_rate = chosen_learning_rate(size);
    chosen.emplace_back("learning-rate", flag_text(flags.learning_rate));
  }
  if (flags.trial) {
    for (auto& value : take_trial(flags, size, *flags.trial)) {
      train::replace(chosen, std::move(value));
    }
  }
  if (chooses_head) {
    flags.head_learning_rate = two_digits(10 * flags.learning_rate);
    chosen.emplace_back("head-learning-rate", flag_text(flags.head_learning_rate));
  }
  return chosen;
}

}  // namespace seqtrain::cli
