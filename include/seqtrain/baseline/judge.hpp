#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include <seqtrain/baseline/model.hpp>
#include <seqtrain/baseline/scores.hpp>
#include <seqtrain/core/ordered_workers.hpp>
#include <seqtrain/metrics/evaluation.hpp>
#include <seqtrain/metrics/logits.hpp>

namespace seqtrain::baseline {

/// Computes the figures of a `Model` and of its majority on examples. It answers many texts at once
/// on several threads.
class Judge {
 public:
  /// Gets the logits [examples, labels] of examples with their labels and targets.
  using Observer = std::function<void(const metrics::Logits&, std::span<const std::int64_t>,
                                      std::span<const float>)>;

  /// `labels` are the names of the labels, which the figures of several targets have.
  explicit Judge(const Model& model, std::size_t threads = 1, Observer observer = {},
                 const std::vector<std::string>& labels = {})
      : model_{&model},
        threads_{threads},
        observer_{std::move(observer)},
        majority_{model.problem_type(), labels},
        linear_{model.problem_type(), labels} {}

  /// Adds an example with its label, or with its targets [labels].
  void add(std::string_view text, std::optional<std::string_view> pair, std::int64_t label,
           std::span<const float> targets) {
    texts_.emplace_back(text);
    pairs_.emplace_back(pair);
    labels_.push_back(label);
    targets_.insert(targets_.end(), targets.begin(), targets.end());
    if (texts_.size() == most_texts) answer();
  }

  /// Returns the figures of all examples.
  [[nodiscard]] Scores scores() {
    answer();
    return {.majority = majority_.report(),
            .linear = linear_.report(),
            .terms = model_->tfidf().columns()};
  }

 private:
  static constexpr std::size_t most_texts = 2048;

  void answer() {
    const auto rows = static_cast<Eigen::Index>(texts_.size());
    if (rows == 0) return;
    const auto labels = static_cast<Eigen::Index>(model_->labels());
    metrics::Logits logits(rows, labels);
    const std::size_t strands = std::min(threads_, texts_.size());
    run_parallel(strands, strands, [&](std::size_t strand) {
      auto scratch = model_->scratch();
      for (std::size_t i = strand; i < texts_.size(); i += strands) {
        answer(i, scratch, {logits.row(static_cast<Eigen::Index>(i)).data(), model_->labels()});
      }
    });
    linear_.add(logits, labels_, targets_);
    if (observer_) observer_(logits, labels_, targets_);
    const Eigen::Map<const Eigen::RowVectorXf> most{model_->majority().data(), labels};
    majority_.add(most.replicate(rows, 1), labels_, targets_);
    texts_.clear();
    pairs_.clear();
    labels_.clear();
    targets_.clear();
  }

  void answer(std::size_t i, Model::Scratch& scratch, std::span<float> logits) const {
    model_->answer(texts_[i], pairs_[i], scratch, logits);
  }

  const Model* model_;
  std::size_t threads_;
  Observer observer_;
  metrics::Evaluation majority_;
  metrics::Evaluation linear_;
  std::vector<std::string> texts_;
  std::vector<std::optional<std::string>> pairs_;
  std::vector<std::int64_t> labels_;
  std::vector<float> targets_;
};

}  // namespace seqtrain::baseline
