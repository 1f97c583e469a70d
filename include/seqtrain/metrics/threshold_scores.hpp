#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/metrics/logits.hpp>

namespace seqtrain::metrics {

/// The scores of one label as a binary classifier. A score that would divide by zero is absent: the
/// precision of a label that was never predicted, the recall of a label that no example has.
struct BinaryScores {
  double accuracy = 0;
  std::optional<double> precision = {};
  std::optional<double> recall = {};
};

/// Scores each label on its own over a stream of batches. A label is predicted if its probability
/// is above a threshold. Probabilities are sigmoids of the logits if an example may have several
/// labels, else their softmax.
class ThresholdScores {
 public:
  /// Sets the threshold. Throws `InputError` unless it is at least 0 and below 1.
  ThresholdScores(double threshold, ProblemType type) : threshold_{threshold}, type_{type} {
    if (threshold >= 0 && threshold < 1) return;
    throw InputError{"must be at least 0 and below 1", {.object = "threshold"}};
  }

  /// Adds logits [rows, labels] with labels [rows] or targets [rows, labels] of 0 and 1, as the
  /// problem type needs. Throws `Error` if they do not fit together.
  void add(const Logits& logits, std::span<const std::int64_t> labels,
           std::span<const float> targets) {
    const bool multi_label = type_ == ProblemType::multi_label;
    const auto width = static_cast<std::size_t>(logits.cols());
    const auto rows = static_cast<std::size_t>(logits.rows());
    if (multi_label ? targets.size() != rows * width : labels.size() != rows) {
      throw Error{"logits and labels do not fit together"};
    }
    counts_.resize(width);
    for (std::size_t row = 0; row < rows; ++row) {
      const auto answers = logits.row(static_cast<Eigen::Index>(row));
      const double highest = answers.maxCoeff();
      const double sum = (answers.array().cast<double>() - highest).exp().sum();
      for (std::size_t label = 0; label < width; ++label) {
        const double logit = answers[static_cast<Eigen::Index>(label)];
        const double probability =
            multi_label ? 1 / (1 + std::exp(-logit)) : std::exp(logit - highest) / sum;
        const bool truth = multi_label ? targets[row * width + label] > 0.5F
                                       : labels[row] == static_cast<std::int64_t>(label);
        counts_[label].add(probability > threshold_, truth);
      }
    }
  }

  /// Returns the scores of each label.
  [[nodiscard]] std::vector<BinaryScores> scores() const {
    std::vector<BinaryScores> scores;
    for (const Counts& counts : counts_) scores.push_back(counts.scores());
    return scores;
  }

 private:
  struct Counts {
    std::int64_t examples = 0, right = 0, predicted = 0, positive = 0, hits = 0;

    void add(bool said, bool truth) {
      ++examples;
      right += said == truth ? 1 : 0;
      predicted += said ? 1 : 0;
      positive += truth ? 1 : 0;
      hits += said && truth ? 1 : 0;
    }

    [[nodiscard]] BinaryScores scores() const {
      const auto share = [](std::int64_t part, std::int64_t whole) -> std::optional<double> {
        if (whole == 0) return {};
        return static_cast<double>(part) / static_cast<double>(whole);
      };
      return {.accuracy = share(right, examples).value_or(0),
              .precision = share(hits, predicted),
              .recall = share(hits, positive)};
    }
  };

  double threshold_;
  ProblemType type_;
  std::vector<Counts> counts_;  // one for each label
};

}  // namespace seqtrain::metrics
