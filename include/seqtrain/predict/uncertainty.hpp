#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/problem_type.hpp>

namespace seqtrain::predict {

/// A measure of how uncertain scores are: 0 if they are sure, 1 if they say nothing.
enum class Uncertainty {
  entropy,  ///< the entropy, divided by that of equal scores
  margin    ///< 1 minus the difference of the two greatest scores
};

/// Returns the uncertainty of the scores of at least two labels. In multi-label classification each
/// label is a choice of two: the entropy is the mean of theirs, and the margin is that of the least
/// certain label.
[[nodiscard]] inline double uncertainty(std::span<const double> scores, ProblemType type,
                                        Uncertainty measure) {
  const auto term = [](double p) { return p > 0 ? -p * std::log(p) : 0; };
  const auto count = static_cast<double>(scores.size());
  if (type == ProblemType::multi_label) {
    double sum = 0, greatest = 0;
    for (const double p : scores) {
      sum += (term(p) + term(1 - p)) / std::log(2.0);
      greatest = std::max(greatest, 1 - std::abs(2 * p - 1));
    }
    return measure == Uncertainty::entropy ? sum / count : greatest;
  }
  if (measure == Uncertainty::entropy) {
    double sum = 0;
    for (const double p : scores) sum += term(p);
    return sum / std::log(count);
  }
  double first = 0, second = 0;
  for (const double p : scores) {
    second = std::max(second, std::min(first, p));
    first = std::max(first, p);
  }
  return 1 - (first - second);
}

/// Keeps the most uncertain of any number of lines.
class MostUncertain {
 public:
  explicit MostUncertain(std::size_t count) : count_{count} {}

  void add(double uncertainty, std::string line) {
    kept_.push_back({uncertainty, added_++, std::move(line)});
    std::ranges::push_heap(kept_, comes_first);
    if (kept_.size() <= count_) return;
    std::ranges::pop_heap(kept_, comes_first);
    kept_.pop_back();
  }

  /// Returns the lines, the most uncertain first. Equally uncertain ones keep their order.
  [[nodiscard]] std::vector<std::string> take() {
    std::ranges::sort(kept_, comes_first);
    std::vector<std::string> lines;
    for (Line& line : kept_) lines.push_back(std::move(line.text));
    kept_.clear();
    return lines;
  }

 private:
  struct Line {
    double uncertainty = 0;
    std::int64_t number = 0;
    std::string text = {};
  };

  static bool comes_first(const Line& a, const Line& b) {
    return a.uncertainty != b.uncertainty ? a.uncertainty > b.uncertainty : a.number < b.number;
  }

  std::size_t count_;
  std::int64_t added_ = 0;
  std::vector<Line> kept_;  // a heap, whose front is the least uncertain
};

}  // namespace seqtrain::predict
