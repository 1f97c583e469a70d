#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/train/fits.hpp>
#include <seqtrain/train/gradients.hpp>
#include <seqtrain/train/stopped.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::train {

/// The loss at each learning rate of a range test.
struct LearningRateCurve {
  /// A step of the test.
  struct Point {
    double learning_rate = 0;
    double loss = 0;  ///< a running mean
  };
  std::vector<Point> points = {};
  std::int64_t steps = 0;  ///< points that a test has if it does not end early

  /// Returns a tenth of the learning rate with the lowest loss. The first tenth of the test and the
  /// last five points do not count, unless there are no others. Throws `Error` if there is no
  /// point.
  [[nodiscard]] double suggestion() const {
    std::span<const Point> counted = points;
    const auto first = static_cast<std::size_t>(steps / 10);
    if (counted.size() > first + 5) counted = counted.subspan(first, counted.size() - first - 5);
    if (counted.empty()) throw Error{"the first loss is not finite", {.object = "range test"}};
    return std::ranges::min_element(counted, {}, &Point::loss)->learning_rate / 10;
  }
};

/// Options of `find_learning_rate`; the defaults are fastai's.
struct RangeTestOptions {
  double first = 1e-7;  ///< the learning rate of the first step
  double last = 10;     ///< the learning rate after the last step
  std::int64_t steps = 100;
  double stop_at = 4;       ///< the test ends when the loss is this many times the lowest
  double smoothing = 0.98;  ///< the weight of earlier steps in the running mean of the loss
  std::stop_token stop = {};

  void validate() const {
    const Demand demand{"range test"};
    demand(first > 0 && std::isfinite(first), "first", "must be above 0");
    demand(last > first && std::isfinite(last), "last", "must be above the first");
    demand(steps >= 6, "steps", "must be at least 6");
    demand(stop_at > 1, "stop_at", "must be above 1");
    demand(smoothing >= 0 && smoothing < 1, "smoothing", "must be at least 0 and below 1");
  }
};

namespace detail {

/// Runs the steps of a range test.
template <class M, class O>
class RangeTest {
 public:
  RangeTest(M& model, O& optimizer, const RangeTestOptions& options)
      : model_{model}, optimizer_{optimizer}, options_{options} {
    curve_.steps = options.steps;
  }

  /// Takes a step on a batch. Returns whether the test continues.
  bool step(const typename M::batch_type& batch) {
    if (options_.stop.stop_requested()) throw Stopped{"stopped during a range test"};
    const auto done = static_cast<double>(curve_.points.size());
    const double rate = options_.first * std::pow(options_.last / options_.first,
                                                  done / static_cast<double>(options_.steps));
    const auto loss = static_cast<double>(accumulate(model_, std::span{&batch, 1}).value());
    take_step(optimizer_, model_, {.lr_scale = rate / optimizer_.learning_rate()});
    mean_ = loss + options_.smoothing * (mean_ - loss);
    const double smooth = mean_ / (1 - std::pow(options_.smoothing, done + 1));
    if (!std::isfinite(smooth)) return false;
    curve_.points.push_back({rate, smooth});
    lowest_ = std::min(lowest_, smooth);
    return smooth <= options_.stop_at * lowest_ && std::ssize(curve_.points) < options_.steps;
  }

  [[nodiscard]] LearningRateCurve curve() && { return std::move(curve_); }

 private:
  M& model_;
  O& optimizer_;
  const RangeTestOptions& options_;
  LearningRateCurve curve_;
  double mean_ = 0;
  double lowest_ = std::numeric_limits<double>::infinity();
};

}  // namespace detail

/// Runs the range test of Smith 2015, "Cyclical learning rates for training neural networks":
/// trains with a learning rate that grows exponentially from step to step and returns the loss at
/// each rate. The model ends with its initial weights. The optimizer cannot be used afterwards, and
/// its own learning rate must be above 0. In fp16 the loss scale stays as the test leaves it.
/// Throws `Stopped` if a stop is requested.
template <class M, class O, class L>
[[nodiscard]] LearningRateCurve find_learning_rate(M& model, O optimizer, L& loader,
                                                   const RangeTestOptions& options = {}) {
  static_assert(fits_range_test<M, O, L>());
  options.validate();
  weights::TensorCopies before;
  before.assign(model.state_dict().views());
  detail::RangeTest<M, O> test{model, optimizer, options};
  const auto restore = [&] { model.load_state_dict(before.views()); };
  try {
    bool goes_on = loader.examples() > 0;
    for (std::int64_t epoch = 0; goes_on; ++epoch) {
      for (const auto& batch : loader.epoch(epoch)) {
        if (goes_on = test.step(batch); !goes_on) break;
      }
    }
  } catch (...) {
    restore();
    throw;
  }
  restore();
  return std::move(test).curve();
}

}  // namespace seqtrain::train
