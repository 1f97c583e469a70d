#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/train/events.hpp>

namespace seqtrain::report {

/// Returns the batches from one reported step to the next for a run of `batches` batches: at most
/// 50, and fewer in a short run, so that it has about 20 points. Without a number of batches it is
/// 50.
[[nodiscard]] inline std::int64_t usual_interval(std::int64_t batches) {
  constexpr std::int64_t most = 50, points = 20;
  return batches == 0 ? most : std::clamp<std::int64_t>(batches / points, 1, most);
}

/// Chooses the steps that are reported: the first step of a run, and the last steps of the equal
/// parts into which each epoch is divided. There are as few parts as have at most `every` batches
/// each. A run that ends inside an epoch reports its last step too.
class Cadence {
 public:
  /// Takes the most batches of a part; 0 means `usual_interval`.
  explicit Cadence(std::int64_t every = 0) : given_{every}, every_{interval(0)} {
    if (every < 0) throw InputError{"must not be negative", {.object = "report", .field = "every"}};
  }

  /// Begins at the position of a fit, as if all steps before it had been seen.
  void begin(const train::FitBegin& event) {
    every_ = interval(event.batches);
    epoch_ = event.position.batch > 0 ? event.position.epoch + 1 : 0;
    batch_ = event.position.batch;
  }

  /// Tells whether a step is to be reported. Call it once for each step.
  bool due(const train::StepEnd& event) {
    const std::int64_t before = event.epoch == epoch_ ? batch_ : 0;
    epoch_ = event.epoch;
    batch_ = event.batch;
    const std::int64_t batches = std::max<std::int64_t>(event.batches, 1);
    const std::int64_t parts = (batches - 1) / every_ + 1;
    const auto done = [&](std::int64_t batch) { return batch * parts / batches; };
    const bool first_or_last = event.step == 1 || event.step == event.steps;
    return first_or_last || done(event.batch) > done(before);
  }

 private:
  [[nodiscard]] std::int64_t interval(std::int64_t batches) const {
    return given_ > 0 ? given_ : usual_interval(batches);
  }

  std::int64_t given_;
  std::int64_t every_;
  std::int64_t epoch_ = 0;
  std::int64_t batch_ = 0;
};

/// Computes the mean of steps' losses, each with the same weight. A loss that is not finite does
/// not count. Losses may be on a device: they are read when the mean is, or when there are
/// `most_open` of them.
class MeanLoss {
 public:
  static constexpr std::size_t most_open = 64;

  void add(const std::function<double()>& loss) {
    open_.push_back(loss);
    if (open_.size() == most_open) read();
  }

  /// Returns the mean since the last call, or NaN if no loss counts.
  [[nodiscard]] double take() {
    read();
    const double none = std::numeric_limits<double>::quiet_NaN();
    const double mean = count_ > 0 ? sum_ / static_cast<double>(count_) : none;
    *this = {};
    return mean;
  }

 private:
  void read() {
    for (const auto& loss : open_) {
      const double value = loss();
      if (!std::isfinite(value)) continue;
      sum_ += value;
      ++count_;
    }
    open_.clear();
  }

  std::vector<std::function<double()>> open_;  // losses that are not read yet
  double sum_ = 0;
  std::int64_t count_ = 0;
};

/// Computes the loss that a log has at each reported step: the mean over the steps since the last
/// reported one. After a resume the first mean is over the steps since the checkpoint. Every
/// observer that reports losses uses it, so that their figures are equal.
class LoggedLoss {
 public:
  explicit LoggedLoss(std::int64_t every = 0) : cadence_{every} {}

  /// Begins at the position of a fit.
  void begin(const train::FitBegin& event) {
    cadence_.begin(event);
    mean_ = {};
  }

  /// Adds a step. Returns the mean loss if the step is to be reported. Call it once for each step.
  [[nodiscard]] std::optional<double> add(const train::StepEnd& event) {
    mean_.add(event.loss);
    if (!cadence_.due(event)) return {};
    return mean_.take();
  }

 private:
  Cadence cadence_;
  MeanLoss mean_;
};

}  // namespace seqtrain::report
