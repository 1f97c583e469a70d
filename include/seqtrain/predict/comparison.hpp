#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/text/windows.hpp>

namespace seqtrain::predict {

/// The largest and the mean difference of two sets of numbers.
struct Differences {
  double sum = 0;
  double largest = 0;
  std::size_t count = 0;

  void add(double one, double other) {
    const double difference = std::abs(one - other);
    sum += difference;
    largest = std::max(largest, difference);
    ++count;
  }
  [[nodiscard]] double mean() const { return count > 0 ? sum / static_cast<double>(count) : 0; }
};

/// The differences of two models' answers to the same texts.
struct Comparison {
  std::size_t texts = 0;         ///< texts to which both models give answers
  std::size_t other_labels = 0;  ///< texts to which the models give different labels
  std::size_t not_finite = 0;    ///< texts for which a model computes a logit that is not finite
  Differences logits = {};
  Differences scores = {};

  /// Adds the two models' logits [texts, labels].
  void add(const metrics::Logits& one, const metrics::Logits& other, const predict::Task& task) {
    const auto width = static_cast<std::size_t>(one.cols());
    for (Eigen::Index row = 0; row < one.rows(); ++row) {
      const std::span mine{one.row(row).data(), width}, its{other.row(row).data(), width};
      if (!metrics::all_finite(mine) || !metrics::all_finite(its)) {
        ++not_finite;
        continue;
      }
      const auto first = predict::interpret(mine, task);
      const auto second = predict::interpret(its, task);
      ++texts;
      if (first.labels != second.labels) ++other_labels;
      for (std::size_t i = 0; i < width; ++i) {
        logits.add(first.logits[i], second.logits[i]);
        scores.add(first.scores[i], second.scores[i]);
      }
    }
  }

  /// Returns a line such as `12 of 9815 texts have other labels (0.12 %); …`.
  [[nodiscard]] std::string text() const {
    const double share =
        texts > 0 ? 100 * static_cast<double>(other_labels) / static_cast<double>(texts) : 0;
    char numbers[200];
    std::snprintf(numbers, sizeof numbers,
                  " (%.2f %%); scores differ by %.2g on average and %.2g at most, logits by %.2g "
                  "on average and %.2g at most",
                  share, scores.mean(), scores.largest, logits.mean(), logits.largest);
    const std::string left_out =
        not_finite == 0 ? ""
                        : "; " + std::to_string(not_finite) +
                              " more texts have a logit that is not finite and are left out";
    return std::to_string(other_labels) + " of " + std::to_string(texts) +
           " texts have other labels" + numbers + left_out;
  }
};

/// A predictor that answers as one model does and compares each answer with another model's. The
/// models must have the same tokenizer and labels and outlive this object. One thread may use it.
template <predict::Predictor P>
class Compared {
 public:
  Compared(const P& predictor, const P& other) : predictor_{&predictor}, other_{&other} {}

  [[nodiscard]] const predict::Task& task() const { return predictor_->task(); }

  [[nodiscard]] predict::Encoded encode(std::string_view text, std::optional<std::string_view> pair,
                                        std::size_t max_length) const {
    return predictor_->encode(text, pair, max_length);
  }

  [[nodiscard]] metrics::Logits predict(
      std::span<const predict::Encoded> texts,
      std::vector<text::DecidingWindow>* deciding = nullptr) const {
    metrics::Logits logits = predict::logits_of(*predictor_, texts, deciding);
    comparison_.add(logits, other_->predict(texts), task());
    return logits;
  }

  [[nodiscard]] const Comparison& comparison() const { return comparison_; }

 private:
  const P* predictor_;
  const P* other_;
  mutable Comparison comparison_;
};

}  // namespace seqtrain::predict
