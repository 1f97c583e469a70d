#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/train/events.hpp>

namespace seqtrain::tests {

/// The loss of a step that nobody asks for.
inline const std::function<double()> no_loss = [] { return 0.0; };

/// A step of a run of one epoch.
inline train::StepEnd step(std::int64_t batch, std::int64_t batches,
                           const std::function<double()>& loss) {
  return {.step = batch,
          .steps = batches,
          .epoch = 1,
          .batch = batch,
          .batches = batches,
          .examples = 10,
          .tokens = 200,
          .learning_rate = 2e-5,
          .loss = loss};
}

/// A dev set's figures: six of eight are right.
inline metrics::ClassificationReport some_report() {
  metrics::Classification metric{2};
  metrics::Logits logits(8, 2);
  logits.col(0).setZero();
  logits.col(1) << 1, 1, 1, 1, -1, -1, -1, -1;
  metric.add(logits, std::vector<std::int64_t>{1, 1, 1, 0, 0, 0, 0, 1});
  return metric.report();
}

}  // namespace seqtrain::tests
