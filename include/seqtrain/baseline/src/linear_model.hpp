#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include <seqtrain/baseline/linear_model.hpp>
#include <seqtrain/baseline/linear_problem.hpp>

namespace seqtrain::baseline {

namespace detail {

/// Remembers the last steps of a search and turns a gradient into the next (L-BFGS, Liu and Nocedal
/// 1989).
class SearchDirection {
 public:
  explicit SearchDirection(const LinearProblem& problem) : problem_{problem} {}

  /// Turns a gradient into the direction to go in.
  void turn(LinearPoint& gradient) const {
    std::vector<double> shares;
    for (auto at = changes_.rbegin(); at != changes_.rend(); ++at) {
      shares.push_back(problem_.dot(at->step, gradient) / at->curvature);
      problem_.combine(1, gradient, -shares.back(), at->turn);
    }
    if (!changes_.empty()) {
      const Change& last = changes_.back();
      problem_.combine(last.curvature / problem_.dot(last.turn, last.turn), gradient, 0, gradient);
    }
    for (const Change& change : changes_) {
      const double share = problem_.dot(change.turn, gradient) / change.curvature;
      problem_.combine(1, gradient, shares.back() - share, change.step);
      shares.pop_back();
    }
    problem_.combine(-1, gradient, 0, gradient);
  }

  /// Remembers a step and the change of the gradient that it made.
  void add(LinearPoint step, LinearPoint turn) {
    constexpr std::size_t memory = 6;
    const double curvature = problem_.dot(step, turn);
    if (!(curvature > 0)) return;
    if (changes_.size() == memory) changes_.pop_front();
    changes_.push_back({std::move(step), std::move(turn), curvature});
  }

 private:
  struct Change {
    LinearPoint step;
    LinearPoint turn;  ///< of the gradient
    double curvature;
  };

  const LinearProblem& problem_;
  std::deque<Change> changes_;
};

}  // namespace detail

SEQTRAIN_SEPARATE LinearModel fit_linear(const LinearData& data, const LinearOptions& options) {
  const LinearProblem problem{data, options.penalty, options.threads};
  LinearPoint point = problem.zero(), gradient = problem.zero();
  problem.set_gradient(point, gradient);
  double value = problem.value(point, gradient, 0);
  const double flat = problem.dot(gradient, gradient) * options.tolerance * options.tolerance;
  detail::SearchDirection direction{problem};
  for (int i = 0; i < options.most_steps && !options.stop.stop_requested(); ++i) {
    const double squares = problem.dot(gradient, gradient);
    if (!(squares > flat)) break;
    LinearPoint step = gradient;
    direction.turn(step);
    const double slope = problem.dot(gradient, step);
    double rate = i == 0 ? 1 / std::max(1.0, std::sqrt(squares)) : 1;
    double next = problem.value(point, step, rate);
    while (next > value + 1e-4 * rate * slope && rate > 1e-9) {
      rate /= 2;
      next = problem.value(point, step, rate);
    }
    if (!(next < value)) break;  // no more digits
    problem.combine(rate, step, 0, step);
    problem.combine(1, point, 1, step);
    LinearPoint turn = gradient;
    problem.set_gradient(point, gradient);
    problem.combine(-1, turn, 1, gradient);
    direction.add(std::move(step), std::move(turn));
    value = next;
  }
  return {problem.weights(point), {point.bias.begin(), point.bias.end()}};
}

}  // namespace seqtrain::baseline
