#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/metrics/multi_label.hpp>
#include <seqtrain/metrics/regression.hpp>

namespace seqtrain::metrics {

/// Computes the figures of a problem type over a stream of batches.
class Evaluation {
 public:
  explicit Evaluation(ProblemType type) {
    if (type == ProblemType::regression) figures_.emplace<Regression>();
    if (type == ProblemType::multi_label) figures_.emplace<MultiLabel>();
  }

  /// Adds logits [rows, labels] with labels [rows] or targets [rows, labels], as the problem type
  /// needs. Throws `Error` if they do not fit together.
  void add(const Logits& logits, std::span<const std::int64_t> labels,
           std::span<const float> targets) {
    if (auto* const classes = std::get_if<Classification>(&figures_)) {
      classes->add(logits, labels);
    } else if (auto* const numbers = std::get_if<Regression>(&figures_)) {
      numbers->add(logits, targets);
    } else {
      std::get<MultiLabel>(figures_).add(logits, targets);
    }
  }

  [[nodiscard]] ClassificationReport report() const {
    return std::visit([](const auto& figures) { return figures.report(); }, figures_);
  }

 private:
  std::variant<Classification, Regression, MultiLabel> figures_;
};

}  // namespace seqtrain::metrics
