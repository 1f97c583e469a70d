#pragma once

#include <cstdint>

#include <seqtrain/core/error.hpp>
#include <seqtrain/train/events.hpp>

namespace seqtrain::report {

/// Chooses the steps that are reported: those of the batches 1, 1 + every, 1 + 2 every, … of each
/// epoch, and the last step of each epoch and of the run.
class Cadence {
 public:
  explicit Cadence(std::int64_t every) : every_{every} {
    if (every < 1) throw InputError{"must be at least 1", {.object = "report", .field = "every"}};
  }

  /// Continues from a position, as if all steps before it had been seen.
  void start_at(const train::Position& position) {
    epoch_ = position.batch > 0 ? position.epoch + 1 : 0;
    batch_ = position.batch;
  }

  /// Tells whether a step is to be reported. Call it once for each step.
  bool due(const train::StepEnd& event) {
    const std::int64_t before = event.epoch == epoch_ ? batch_ : 0;
    epoch_ = event.epoch;
    batch_ = event.batch;
    const bool last = event.batch == event.batches || event.step == event.steps;
    return last || marks(event.batch) > marks(before);
  }

 private:
  /// Returns how many of the first `batches` batches of an epoch are reported.
  [[nodiscard]] std::int64_t marks(std::int64_t batches) const {
    return (batches + every_ - 1) / every_;
  }

  std::int64_t every_;
  std::int64_t epoch_ = 0;
  std::int64_t batch_ = 0;
};

}  // namespace seqtrain::report
