#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/core/random.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/predict/words.hpp>
#include <seqtrain/text/unicode/utf8.hpp>
#include <seqtrain/text/windows.hpp>

namespace seqtrain::predict {

/// A text or a pair in a sample, perhaps cut.
struct SampledText {
  std::string text = {};
  std::optional<std::string> pair = {};
};

/// A sample of the texts of a stream of any length: each text is in it with the same probability
/// (Vitter 1985, algorithm R). It is equal in each run.
class TextSample {
 public:
  static constexpr std::size_t most_texts = 5000;
  static constexpr std::size_t most_bytes = 2000;  ///< of a text in the sample

  void add(std::string_view text, std::optional<std::string_view> pair) {
    characters_ += character_count(text) + (pair ? character_count(*pair) : 0);
    const auto place = next_place();
    ++seen_;
    if (!place) return;
    if (*place == texts_.size()) texts_.emplace_back();
    texts_[*place] = cut(text, pair);
  }

  /// Returns the place in the sample of the next text that is added, or nothing if the sample does
  /// not get it.
  [[nodiscard]] std::optional<std::size_t> next_place() const {
    if (texts_.size() < most_texts) return texts_.size();
    const std::uint64_t place = draws_.at(seen_) % (seen_ + 1);
    if (place >= most_texts) return {};
    return static_cast<std::size_t>(place);
  }

  [[nodiscard]] std::uint64_t seen() const { return seen_; }
  [[nodiscard]] const std::vector<SampledText>& texts() const { return texts_; }
  /// Returns the mean number of characters of all texts, whole ones.
  [[nodiscard]] double characters() const {
    return seen_ == 0 ? 0 : static_cast<double>(characters_) / static_cast<double>(seen_);
  }

 private:
  static std::string head(std::string_view text) {
    std::size_t end = std::min(text.size(), most_bytes);
    while (end > 0 && end < text.size() && text::is_continuation(text[end])) --end;
    return std::string{text.substr(0, end)};
  }
  static SampledText cut(std::string_view text, std::optional<std::string_view> pair) {
    SampledText sampled{.text = head(text), .pair = std::nullopt};
    if (pair) sampled.pair = head(*pair);
    return sampled;
  }

  random::Stream draws_{0, random::Purpose::data, std::uint64_t{1}};
  std::uint64_t seen_ = 0;
  std::uint64_t characters_ = 0;
  std::vector<SampledText> texts_;
};

/// Tells whether a model predicts values in place of labels: a regression does, and a classifier
/// with one output, such as a reranker.
[[nodiscard]] inline bool predicts_values(const Task& task) {
  if (task.embeds()) return false;
  return task.problem_type == ProblemType::regression ||
         (task.problem_type == ProblemType::single_label && task.labels.size() < 2);
}

/// How often a model predicts each label, or the means of the values that it predicts. The value
/// of a classifier with one output is its `relevance`.
class PredictedLabels {
 public:
  void add(const metrics::Logits& logits, const Task& task) {
    if (task.embeds()) return;
    const std::size_t width = std::min(static_cast<std::size_t>(logits.cols()),
                                       std::max<std::size_t>(task.labels.size(), 1));
    counts_.resize(predicts_values(task) ? 0 : width);
    sums_.resize(predicts_values(task) ? width : 0);
    for (Eigen::Index row = 0; row < logits.rows(); ++row) {
      const std::span<const float> numbers{logits.row(row).data(), width};
      if (!metrics::all_finite(numbers)) continue;
      ++texts_;
      if (predicts_values(task)) {
        add_values(numbers, task);
      } else {
        for (const std::size_t label : chosen(numbers, task)) ++counts_[label];
      }
    }
  }

  [[nodiscard]] std::uint64_t texts() const { return texts_; }
  /// Returns the share of the texts that have each label, or nothing if the model predicts values
  /// or no text has a label.
  [[nodiscard]] std::vector<double> shares() const {
    std::vector<double> shares;
    if (texts_ == 0) return shares;
    for (const std::uint64_t count : counts_) {
      shares.push_back(static_cast<double>(count) / static_cast<double>(texts_));
    }
    return shares;
  }
  /// Returns the mean of each value, or nothing if the model predicts labels or no text has values.
  [[nodiscard]] std::vector<double> means() const {
    std::vector<double> means;
    if (texts_ == 0) return means;
    for (const double sum : sums_) means.push_back(sum / static_cast<double>(texts_));
    return means;
  }

 private:
  void add_values(std::span<const float> numbers, const Task& task) {
    const bool is_regression = task.problem_type == ProblemType::regression;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      sums_[i] += is_regression ? double{numbers[i]} : relevance(numbers[i], task);
    }
  }

  std::vector<std::uint64_t> counts_;
  std::vector<double> sums_;  ///< of each value
  std::uint64_t texts_ = 0;
};

/// A predictor that answers as another one does, and samples the texts and counts the labels that
/// pass through it. The other one must outlive this object. One thread may use it.
template <Predictor P>
class Watched {
 public:
  /// If it does not watch, it only passes on.
  explicit Watched(const P& predictor, bool watches = true)
      : predictor_{&predictor}, watches_{watches} {}

  [[nodiscard]] const Task& task() const { return predictor_->task(); }

  [[nodiscard]] Encoded encode(std::string_view text, std::optional<std::string_view> pair,
                               std::size_t max_length) const {
    Encoded encoded = predictor_->encode(text, pair, max_length);
    if (watches_) sample_.add(text, pair);
    return encoded;
  }

  [[nodiscard]] metrics::Logits predict(
      std::span<const Encoded> texts, std::vector<text::DecidingWindow>* deciding = nullptr) const {
    metrics::Logits logits = logits_of(*predictor_, texts, deciding);
    if (watches_) labels_.add(logits, task());
    return logits;
  }

  [[nodiscard]] const TextSample& sample() const { return sample_; }
  [[nodiscard]] const PredictedLabels& labels() const { return labels_; }

 private:
  const P* predictor_;
  bool watches_;
  mutable TextSample sample_;
  mutable PredictedLabels labels_;
};

}  // namespace seqtrain::predict
