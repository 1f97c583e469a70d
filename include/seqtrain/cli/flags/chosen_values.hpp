#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/cli/flags/training.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::cli {

/// The size of a run decides its default length and learning rate.
struct RunSize {
  std::size_t examples = 0;         ///< the number of training examples, at least 1
  std::int64_t hidden_size = 768;   ///< the size of the encoder's hidden states
  std::int64_t step_examples = 16;  ///< the number of examples in a step
  bool trains_few = false;          ///< only adapters and the head, or only the head, are trained
};

/// Returns the number of epochs of a run without `--epochs`: at least 3, and on few examples more,
/// up to 20, so that the run has some 300 steps. Beyond 50,000 examples it is 2. docs/defaults.md
/// has the study.
inline std::int64_t chosen_epochs(const RunSize& size) {
  constexpr std::int64_t least_steps = 300;
  if (size.examples > 50'000) return 2;
  const auto examples = static_cast<std::int64_t>(size.examples);
  const auto of_epoch = (examples + size.step_examples - 1) / size.step_examples;
  return std::clamp<std::int64_t>((least_steps + of_epoch / 2) / of_epoch, 3, 20);
}

/// Returns the learning rate of a run without `--learning-rate`. The larger the encoder, the lower
/// is its rate: 5e-5 at BERT-base's size, 1e-4 at MiniLM's. Adapters and heads alone learn at ten
/// times the rate. docs/defaults.md has the study.
inline double chosen_learning_rate(const RunSize& size) {
  const double of_base = 768.0 / static_cast<double>(size.hidden_size);
  const double rate = std::clamp(5e-5 * of_base, 1e-5, 1e-4) * (size.trains_few ? 10 : 1);
  std::array<char, 16> digits{};  // two of them are precise enough
  std::snprintf(digits.data(), digits.size(), "%.1e", rate);
  return std::strtod(digits.data(), nullptr);
}

/// Sets the number of epochs and the learning rate if they are not given, and returns these flags
/// with their values.
inline train::Pairs choose_values(TrainingFlags& flags, const RunSize& size) {
  train::Pairs chosen;
  if (!flags.epochs && flags.max_steps == 0) {
    flags.epochs = chosen_epochs(size);
    chosen.emplace_back("epochs", flag_text(*flags.epochs));
  }
  if (std::isnan(flags.learning_rate)) {
    flags.learning_rate = chosen_learning_rate(size);
    chosen.emplace_back("learning-rate", flag_text(flags.learning_rate));
  }
  return chosen;
}

}  // namespace seqtrain::cli
