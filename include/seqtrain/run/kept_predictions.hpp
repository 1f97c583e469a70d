#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/metrics/bootstrap.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/train/events.hpp>

namespace seqtrain::run {

/// A classifier's predictions for a set of examples, in the set's order.
struct Predictions {
  ProblemType problem_type = ProblemType::single_label;
  std::int64_t epoch = 0;               ///< epochs done before the evaluation
  std::vector<std::int64_t> rows = {};  ///< indices in the encoded set
  metrics::Logits logits = {};          ///< [rows, labels]
  std::vector<std::int64_t> gold =
      {};  ///< [rows], labels of single-label classification; -1 for none
  std::vector<float> targets =
      {};  ///< [rows, labels], targets of other problem types and soft labels
  std::vector<double> losses = {};  ///< [rows], or empty
  std::size_t left_out = 0;         ///< number of examples that were not kept

  [[nodiscard]] std::size_t size() const { return rows.size(); }
  [[nodiscard]] std::size_t labels() const { return static_cast<std::size_t>(logits.cols()); }
  /// Returns the logits of example `i`.
  [[nodiscard]] std::span<const float> logits_of(std::size_t i) const {
    return {logits.data() + i * labels(), labels()};
  }
  /// Returns the targets of example `i`.
  [[nodiscard]] std::span<const float> targets_of(std::size_t i) const {
    return std::span{targets}.subspan(i * labels(), labels());
  }
  /// Tells whether the example has a gold label or targets.
  [[nodiscard]] bool labelled(std::size_t i) const {
    if (problem_type == ProblemType::single_label) return gold[i] >= 0;
    return !std::isnan(targets_of(i)[0]);
  }

  /// Returns the training loss of an example, or NaN if it has no label or the model has no losses
  /// of examples.
  [[nodiscard]] double loss(std::size_t i) const {
    return i < losses.size() ? losses[i] : std::numeric_limits<double>::quiet_NaN();
  }

  /// Returns the ids of the labels that an example has; none for regression.
  [[nodiscard]] std::vector<std::size_t> gold_labels(std::size_t i) const {
    if (!labelled(i) || problem_type == ProblemType::regression) return {};
    if (problem_type == ProblemType::single_label) return {static_cast<std::size_t>(gold[i])};
    std::vector<std::size_t> ids;
    for (std::size_t label = 0; label < labels(); ++label) {
      if (targets_of(i)[label] > 0.5F) ids.push_back(label);
    }
    return ids;
  }
};

/// An observer of `fit` and `evaluate` that keeps a classifier's predictions in the last evaluation
/// of each split. It needs memory for a row of logits for each example; past `most_logits` numbers,
/// examples are left out.
class KeptPredictions {
 public:
  static constexpr std::size_t most_logits = std::size_t{1} << 26;

  /// Keeps nothing unless `enabled` is true.
  explicit KeptPredictions(bool enabled = true) : enabled_{enabled} {}

  void on(const train::EvalBegin& event) {
    if (!enabled_) return;
    Predictions& predictions = named(event.split);
    predictions = {.epoch = event.epoch};
    logits_.clear();
  }

  void on(const train::EvalPredictions& event) {
    if (!enabled_) return;
    Predictions& predictions = named(event.split);
    predictions.problem_type = event.problem_type;
    const auto count = static_cast<std::size_t>(event.logits.rows());
    const auto size = static_cast<std::size_t>(event.logits.size());
    if (logits_.size() + size > most_logits || event.row_ids.size() != count) {
      predictions.left_out += count;
      return;
    }
    width_ = event.logits.cols();
    logits_.insert(logits_.end(), event.logits.data(), event.logits.data() + size);
    predictions.rows.insert(predictions.rows.end(), event.row_ids.begin(), event.row_ids.end());
    predictions.gold.insert(predictions.gold.end(), event.labels.begin(), event.labels.end());
    predictions.targets.insert(predictions.targets.end(), event.targets.begin(),
                               event.targets.end());
    predictions.losses.insert(predictions.losses.end(), event.losses.begin(), event.losses.end());
  }

  void on(const train::EvalEnd& event) {
    if (!enabled_) return;
    sort(named(event.split));
    logits_ = {};
  }

  /// Returns the predictions of a split, or null if it was not evaluated or has no rows.
  [[nodiscard]] const Predictions* find(std::string_view split) const {
    for (const auto& [name, predictions] : splits_) {
      if (name == split && predictions.size() > 0) return &predictions;
    }
    return nullptr;
  }

 private:
  Predictions& named(std::string_view split) {
    for (auto& [name, predictions] : splits_) {
      if (name == split) return predictions;
    }
    return splits_.emplace_back(split, Predictions{}).second;
  }

  /// Sorts the predictions of several batches by their rows.
  void sort(Predictions& predictions) const {
    std::vector<std::size_t> order(predictions.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return predictions.rows[i]; });
    const auto width = static_cast<std::size_t>(width_);
    Predictions sorted{.problem_type = predictions.problem_type,
                       .epoch = predictions.epoch,
                       .left_out = predictions.left_out};
    sorted.logits.resize(static_cast<Eigen::Index>(order.size()), width_);
    const bool has_targets = predictions.targets.size() == predictions.size() * width && width > 0;
    for (std::size_t at = 0; const std::size_t i : order) {
      std::copy_n(logits_.data() + i * width, width, sorted.logits.data() + at++ * width);
      sorted.rows.push_back(predictions.rows[i]);
      sorted.gold.push_back(predictions.gold[i]);
      if (!predictions.losses.empty()) sorted.losses.push_back(predictions.losses[i]);
      if (!has_targets) continue;
      const float* const from = predictions.targets.data() + i * width;
      sorted.targets.insert(sorted.targets.end(), from, from + width);
    }
    predictions = std::move(sorted);
  }

  bool enabled_;
  std::vector<std::pair<std::string, Predictions>> splits_;
  std::vector<float> logits_;  // logits of the evaluation that is under way
  Eigen::Index width_ = 0;
};

}  // namespace seqtrain::run
