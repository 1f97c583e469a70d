#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include <seqtrain/core/random.hpp>

namespace seqtrain::run {

/// The part of a model that is trained.
enum class TrainedPart { all, adapters, head };

/// The values that a tuning searches. All others are those of the flags, given or chosen.
struct SearchSpace {
  bool learning_rate = true;
  bool epochs = true;
  bool batch_size = true;
  bool class_weights = true;  ///< equal ones or those of `--class-weights auto`
  bool part = true;           ///< the part of the model that is trained

  [[nodiscard]] bool empty() const {
    return !learning_rate && !epochs && !batch_size && !class_weights && !part;
  }
};

/// The values of a trial, most of them as factors of the values that a run without tuning has.
struct TrialValues {
  double learning_rate = 1;  ///< a factor
  double epochs = 1;         ///< a factor
  double batch_size = 1;     ///< a factor
  bool balances_classes = false;
  TrainedPart part = TrainedPart::all;

  bool operator==(const TrialValues&) const = default;
};

/// A run of a trial: one of its rungs.
struct Trial {
  std::int64_t number = 1;  ///< counted from 1
  std::int64_t rung = 1;    ///< counted from 1
  double share = 1;         ///< share of a whole run's steps that this run has
  TrialValues values = {};
};

/// Returns the values of `count` trials; the same for the same seed. The first trial has the values
/// of a run without tuning. The learning rates of the others are evenly spread between a quarter
/// and four times the usual one, on a logarithmic scale. Other values are the usual ones in half of
/// the trials. No two trials are equal, so a small space may have fewer.
[[nodiscard]] inline std::vector<TrialValues> draw_trials(std::size_t count,
                                                          const SearchSpace& space,
                                                          std::uint64_t seed) {
  random::Stream stream{seed, random::Purpose::tuning};
  const auto pick = [&stream](bool searched, auto usual, auto other, auto another) {
    const bool stays = stream.below(2) == 0;
    const bool first = stream.below(2) == 0;
    return !searched || stays ? usual : first ? other : another;
  };
  std::vector<std::size_t> places(count - 1);  // of learning rates on their scale
  std::iota(places.begin(), places.end(), std::size_t{0});
  random::shuffle(places, stream);
  std::vector<TrialValues> trials(1);
  constexpr int most_draws = 100;
  for (const std::size_t place : places) {
    for (int draw = 0; draw < most_draws; ++draw) {
      const double at =
          (static_cast<double>(place) + stream.uniform()) / static_cast<double>(places.size());
      const TrialValues values{
          .learning_rate = space.learning_rate ? std::pow(4, 2 * at - 1) : 1,
          .epochs = pick(space.epochs, 1.0, 0.5, 2.0),
          .batch_size = pick(space.batch_size, 1.0, 0.5, 2.0),
          .balances_classes = pick(space.class_weights, false, true, true),
          .part = pick(space.part, TrainedPart::all, TrainedPart::adapters, TrainedPart::head)};
      if (std::ranges::count(trials, values) > 0) continue;
      trials.push_back(values);
      break;
    }
  }
  return trials;
}

/// Returns the sentence, without its period, that warns of the dev figures of a tuned run.
[[nodiscard]] inline std::string best_of_trials(std::size_t trials) {
  return "the values of this run are the best of " + std::to_string(trials) +
         " trials on dev, so its dev figures are a little too good";
}

/// A round of successive halving: so many trials have runs of a share of a whole run's steps.
struct Rung {
  std::size_t trials = 2;
  double share = 1;

  bool operator==(const Rung&) const = default;
};

/// Returns the rungs of a tuning with this many trials, at least 2. Each rung has half of the
/// trials of the one before and twice its steps; the last one has two trials and whole runs. There
/// are at most five, so the shortest run has a sixteenth of the steps.
[[nodiscard]] inline std::vector<Rung> rungs_of(std::size_t trials) {
  constexpr std::size_t most = 5;
  std::size_t count = 1;
  while (count < most && (std::size_t{1} << count) < trials) ++count;
  std::vector<Rung> rungs;
  for (std::size_t left = count; left > 0; --left) {
    if (!rungs.empty()) trials = std::min((trials + 1) / 2, std::size_t{1} << left);
    rungs.push_back({.trials = trials, .share = std::ldexp(1, 1 - static_cast<int>(left))});
  }
  return rungs;
}

/// A run's place in the order of a rung.
struct TrialScore {
  std::size_t trial = 0;                                    ///< its index
  double score = std::numeric_limits<double>::quiet_NaN();  ///< larger is better; NaN is worst
  double loss = std::numeric_limits<double>::quiet_NaN();   ///< decides between equal scores
  bool balances_classes = false;  ///< the loss is another than without class weights
};

/// Returns the trials in their order, the best first. Of equal scores, those without class weights
/// come first, because losses compare only with the same ones. Equal losses have the order of the
/// indices.
[[nodiscard]] inline std::vector<std::size_t> ranked(std::vector<TrialScore> scores) {
  constexpr double worst = std::numeric_limits<double>::infinity();
  std::ranges::sort(scores, {}, [&](const TrialScore& one) {
    return std::tuple{std::isnan(one.score) ? worst : -one.score, one.balances_classes,
                      std::isnan(one.loss) ? worst : one.loss, one.trial};
  });
  std::vector<std::size_t> order;
  for (const TrialScore& one : scores) order.push_back(one.trial);
  return order;
}

/// Returns the trials of the next rung, in ascending order: the best `keep` of those ranked. Trial
/// 0, which has the usual values, is always one of them, so that the last rung judges it too.
[[nodiscard]] inline std::vector<std::size_t> survivors(std::vector<std::size_t> order,
                                                        std::size_t keep) {
  keep = std::min(keep, order.size());
  const auto usual = std::ranges::find(order, std::size_t{0}) - order.begin();
  if (usual >= static_cast<std::ptrdiff_t>(keep)) order[keep - 1] = 0;
  order.resize(keep);
  std::ranges::sort(order);
  return order;
}

}  // namespace seqtrain::run
