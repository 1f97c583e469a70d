#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/core/random.hpp>
#include <seqtrain/metrics/classification.hpp>

namespace seqtrain::metrics {

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
  [[nodiscard]] std::span<const Label> gold(std::size_t row) const { return part(2 * row); }
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
    for (auto* counts : {&support_, &said_, &hits_}) std::ranges::fill(*counts, 0);
    right_ = 0;
    for (std::size_t i = 0; i < decisions.size(); ++i)
      add(decisions, stream.below(decisions.size()));
  }

  [[nodiscard]] LabelScores label(std::size_t i) const {
    return scores(support_[i], said_[i], hits_[i]);
  }
  [[nodiscard]] double accuracy(std::size_t rows) const {
    return static_cast<double>(right_) / static_cast<double>(rows);
  }

 private:
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

}  // namespace detail

/// Returns 95 % intervals by bootstrap percentiles (Efron 1979). Each resample draws as many
/// examples as there are, with replacement, from a random stream of its own that follows from the
/// seed.
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
  return result;
}

}  // namespace seqtrain::metrics
