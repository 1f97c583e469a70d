#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/multi_label.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::train {

/// How far a fit is. An epoch whose batches are done but whose evaluation is not still counts as
/// the current one.
struct Position {
  std::int64_t epoch = 0;  ///< epochs done
  std::int64_t batch = 0;  ///< batches of the current epoch that are done
  std::int64_t step = 0;   ///< optimizer steps done

  friend bool operator==(const Position&, const Position&) = default;
};

/// `epoch 1, step 37`, epochs counted from 1.
inline std::string describe(const Position& position) {
  return "epoch " + std::to_string(position.epoch + 1) + ", step " + std::to_string(position.step);
}

/// What a fit goes on from, beside the tensors of the model and the optimizer: order of the data
/// and dropout follow from the seed and the position.
struct State {
  Position position = {};
  std::int64_t skipped_steps = 0;                       ///< whose gradients were not finite
  std::vector<metrics::ClassificationReport> dev = {};  ///< after each epoch
};

/// Takes the tensors of one owner: "model", "optimizer", "best_model".
using VisitTensors =
    std::function<void(std::string_view owner, std::span<const weights::TensorView> tensors)>;

/// A fit to go on from, as its saver hands it out.
struct SavedFit {
  const State& state;
  /// The tensors of an owner; throws `InputError` where none were saved.
  std::function<std::span<const weights::TensorView>(std::string_view owner)> tensors;
};

/// What the best of several evaluations has most of: accuracy; of multi-label classification F1
/// over all labels; of regression the least error.
inline double score(const metrics::ClassificationReport& report) {
  if (report.problem_type == ProblemType::regression) return -report.loss;
  if (report.problem_type == ProblemType::single_label) return report.accuracy;
  return metrics::micro_average(report.confusion).f1;
}

/// The epoch of the highest score, the first of several, counted from 0; NaN is lower than any.
/// There must be one.
inline std::size_t best_epoch(std::span<const metrics::ClassificationReport> dev) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < dev.size(); ++i) {
    const double highest = score(dev[best]);
    if (score(dev[i]) > highest || (std::isnan(highest) && !std::isnan(score(dev[i])))) best = i;
  }
  return best;
}

/// Whether so many epochs in a row were no better than one before them; never with 0.
inline bool out_of_patience(std::span<const metrics::ClassificationReport> dev,
                            std::int64_t patience) {
  if (patience == 0 || dev.empty()) return false;
  return dev.size() - 1 - best_epoch(dev) >= static_cast<std::size_t>(patience);
}

}  // namespace seqtrain::train
