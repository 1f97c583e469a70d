#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/core/random.hpp>
#include <seqtrain/metrics/classification.hpp>

namespace seqtrain::metrics {

/// The result of McNemar's test for two classifiers on the same examples.
struct McNemar {
  std::int64_t first_only = 0;   ///< examples that only the first predicts right
  std::int64_t second_only = 0;  ///< examples that only the second predicts right
  double p = 1;                  ///< probability of such a difference if both are equally good
};

/// Returns the two-sided probability of McNemar's exact test, SciPy's `binomtest(a, a + b, 0.5)`.
inline double mcnemar_p(std::int64_t first_only, std::int64_t second_only) {
  const auto all = static_cast<double>(first_only + second_only);
  const std::int64_t fewer = std::min(first_only, second_only);
  double sum = 0;
  for (std::int64_t i = 0; i <= fewer; ++i) {
    const auto k = static_cast<double>(i);
    sum += std::exp(std::lgamma(all + 1) - std::lgamma(k + 1) - std::lgamma(all - k + 1) -
                    all * std::log(2.0));
  }
  return std::min(1.0, 2 * sum);
}

/// Compares two classifiers by the examples that each predicts right. Throws `Error` if their
/// numbers of examples differ.
inline McNemar mcnemar(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second) {
  if (first.size() != second.size()) throw Error{"answers to different numbers of examples"};
  McNemar result;
  for (std::size_t i = 0; i < first.size(); ++i) {
    result.first_only += first[i] != 0 && second[i] == 0 ? 1 : 0;
    result.second_only += first[i] == 0 && second[i] != 0 ? 1 : 0;
  }
  result.p = mcnemar_p(result.first_only, result.second_only);
  return result;
}

/// The lower and the upper bound of a figure.
struct Interval {
  double low = 0;
  double high = 0;
};

/// Returns the quantile `share` of figures, with linear interpolation, as `numpy.quantile` does.
/// Reorders the figures, of which there must be at least one.
inline double quantile(std::vector<double>& figures, double share) {
  const double place = share * static_cast<double>(figures.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(place);
  std::nth_element(figures.begin(), figures.begin() + below, figures.end());
  const double low = figures[static_cast<std::size_t>(below)];
  const double rest = place - static_cast<double>(below);
  if (rest == 0) return low;
  return low + rest * (*std::min_element(figures.begin() + below + 1, figures.end()) - low);
}

/// Returns the interval from the 2.5 % quantile to the 97.5 % quantile of figures.
inline Interval middle_95(std::vector<double> figures) {
  if (figures.empty()) return {};
  return {quantile(figures, 0.025), quantile(figures, 0.975)};
}

/// Returns Wilson's 95 % interval (Wilson 1927) of a probability that made `hits` of `count` trials
/// succeed.
inline Interval wilson_95(std::int64_t hits, std::int64_t count) {
  if (count == 0) return {};
  constexpr double z = 1.959963984540054;  // the 97.5 % quantile of the normal distribution
  const auto n = static_cast<double>(count);
  const double share = static_cast<double>(hits) / n;
  const double middle = share + z * z / (2 * n);
  const double reach = z * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  const double scale = 1 + z * z / n;
  return {std::max(0.0, (middle - reach) / scale), std::min(1.0, (middle + reach) / scale)};
}

/// The gold labels and the predicted labels of examples, any number of each for an example.
class Decisions {
 public:
  using Label = std::uint32_t;

  explicit Decisions(std::size_t labels, ProblemType problem_type = ProblemType::single_label)
      : labels_{labels}, problem_type_{problem_type} {}

  void add(std::span<const Label> gold, std::span<const Label> said) {
    all_.insert(all_.end(), gold.begin(), gold.end());
    ends_.push_back(all_.size());
    all_.insert(all_.end(), said.begin(), said.end());
    ends_.push_back(all_.size());
  }

  [[nodiscard]] std::size_t size() const { return ends_.size() / 2; }
  [[nodiscard]] std::size_t labels() const { return labels_; }
  [[nodiscard]] ProblemType problem_type() const { return problem_type_; }
  /// Returns the gold labels of an example.
  [[nodiscard]] std::span<const Label> gold(std::size_t row) const { return part(2 * row); }
  /// Returns the predicted labels of an example.
  [[nodiscard]] std::span<const Label> said(std::size_t row) const { return part(2 * row + 1); }
  /// Tells whether an example's predicted labels are exactly its gold labels.
  [[nodiscard]] bool right(std::size_t row) const {
    return std::ranges::equal(gold(row), said(row));
  }

 private:
  [[nodiscard]] std::span<const Label> part(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::span{all_}.subspan(begin, ends_[i] - begin);
  }

  std::size_t labels_;
  ProblemType problem_type_;
  std::vector<Label> all_;
  std::vector<std::size_t> ends_;
};

/// The 95 % intervals of one label's scores.
struct LabelIntervals {
  Interval precision = {};
  Interval recall = {};
  Interval f1 = {};
};

/// The 95 % intervals of the scores on a set of examples.
struct Intervals {
  Interval accuracy = {};
  Interval macro_f1 = {};
  std::vector<LabelIntervals> labels = {};
};

/// Options of a bootstrap.
struct BootstrapOptions {
  std::uint64_t seed = 1234;
  std::size_t resamples = 1000;

  /// Returns options with fewer resamples for more examples, so that the time stays short.
  static BootstrapOptions for_examples(std::size_t count, std::uint64_t seed = 1234) {
    constexpr std::size_t draws = 20'000'000;
    return {
        .seed = seed,
        .resamples = std::clamp<std::size_t>(draws / std::max<std::size_t>(count, 1), 100, 1000)};
  }
};

namespace detail {

/// The scores of one resample.
class Resample {
 public:
  explicit Resample(std::size_t labels) : support_(labels), said_(labels), hits_(labels) {}

  void draw(const Decisions& decisions, random::Stream stream) {
    clear();
    for (std::size_t i = 0; i < decisions.size(); ++i)
      add(decisions, stream.below(decisions.size()));
  }
  /// Takes each example once.
  void take(const Decisions& decisions) {
    clear();
    for (std::size_t i = 0; i < decisions.size(); ++i) add(decisions, i);
  }

  [[nodiscard]] LabelScores label(std::size_t i) const {
    return scores(support_[i], said_[i], hits_[i]);
  }
  [[nodiscard]] double accuracy(std::size_t rows) const {
    return static_cast<double>(right_) / static_cast<double>(rows);
  }

  [[nodiscard]] Interval wilson_accuracy(std::size_t rows) const {
    return wilson_95(right_, static_cast<std::int64_t>(rows));
  }
  /// Returns Wilson's intervals of a label's scores. F1 is 2 J / (1 + J), where J is the share of
  /// hits among the examples that have the label or got it.
  [[nodiscard]] LabelIntervals wilson_label(std::size_t i) const {
    const auto f1 = [](double j) { return 2 * j / (1 + j); };
    const Interval shares = wilson_95(hits_[i], support_[i] + said_[i] - hits_[i]);
    return {.precision = wilson_95(hits_[i], said_[i]),
            .recall = wilson_95(hits_[i], support_[i]),
            .f1 = {f1(shares.low), f1(shares.high)}};
  }

 private:
  void clear() {
    for (auto* counts : {&support_, &said_, &hits_}) std::ranges::fill(*counts, 0);
    right_ = 0;
  }

  void add(const Decisions& decisions, std::size_t row) {
    const auto gold = decisions.gold(row);
    for (const auto label : gold) ++support_[label];
    for (const auto label : decisions.said(row)) {
      ++said_[label];
      if (std::ranges::find(gold, label) != gold.end()) ++hits_[label];
    }
    right_ += decisions.right(row) ? 1 : 0;
  }

  std::vector<std::int64_t> support_;
  std::vector<std::int64_t> said_;
  std::vector<std::int64_t> hits_;
  std::int64_t right_ = 0;
};

/// Puts `other` in place of an interval that is a single number, because all resamples were equal.
inline void widen(Interval& interval, const Interval& other) {
  if (interval.low == interval.high) interval = other;
}

/// Replaces intervals that are single numbers by Wilson's. Macro F1, which no share equals, gets
/// the accuracy's bounds.
inline void widen(Intervals& intervals, const Decisions& decisions) {
  Resample all{decisions.labels()};
  all.take(decisions);
  widen(intervals.accuracy, all.wilson_accuracy(decisions.size()));
  const double macro = intervals.macro_f1.low;
  widen(intervals.macro_f1,
        {std::min(macro, intervals.accuracy.low), std::max(macro, intervals.accuracy.high)});
  for (std::size_t i = 0; i < decisions.labels(); ++i) {
    const LabelIntervals wilson = all.wilson_label(i);
    widen(intervals.labels[i].precision, wilson.precision);
    widen(intervals.labels[i].recall, wilson.recall);
    widen(intervals.labels[i].f1, wilson.f1);
  }
}

}  // namespace detail

/// Returns the scores of each label.
inline std::vector<LabelScores> label_scores(const Decisions& decisions) {
  detail::Resample all{decisions.labels()};
  all.take(decisions);
  std::vector<LabelScores> result;
  for (std::size_t i = 0; i < decisions.labels(); ++i) result.push_back(all.label(i));
  return result;
}

/// Returns 95 % intervals by bootstrap percentiles (Efron 1979). Each resample draws as many
/// examples as there are, with replacement, from a random stream of its own that follows from the
/// seed. If a score is equal in all resamples, which say nothing then, its interval is Wilson's.
inline Intervals bootstrap(const Decisions& decisions, const BootstrapOptions& options = {}) {
  const std::size_t labels = decisions.labels();
  Intervals result{.labels = std::vector<LabelIntervals>(labels)};
  if (decisions.size() == 0) return result;
  const std::vector<double> none(options.resamples);
  std::vector<std::vector<double>> precision(labels, none), recall(labels, none), f1(labels, none);
  auto accuracy = none, macro = none;
  detail::Resample resample{labels};
  std::vector<LabelScores> scores(labels);
  for (std::size_t i = 0; i < options.resamples; ++i) {
    resample.draw(decisions, random::Stream{options.seed, random::Purpose::bootstrap, i});
    accuracy[i] = resample.accuracy(decisions.size());
    for (std::size_t label = 0; label < labels; ++label) {
      scores[label] = resample.label(label);
      precision[label][i] = scores[label].precision;
      recall[label][i] = scores[label].recall;
      f1[label][i] = scores[label].f1;
    }
    macro[i] = macro_average(scores, decisions.problem_type()).f1;
  }
  result.accuracy = middle_95(std::move(accuracy));
  result.macro_f1 = middle_95(std::move(macro));
  for (std::size_t label = 0; label < labels; ++label) {
    result.labels[label] = {.precision = middle_95(std::move(precision[label])),
                            .recall = middle_95(std::move(recall[label])),
                            .f1 = middle_95(std::move(f1[label]))};
  }
  detail::widen(result, decisions);
  return result;
}

}  // namespace seqtrain::metrics
