#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/evaluation.hpp>
#include <seqtrain/train/events.hpp>

namespace seqtrain::tests {

/// A loss that no observer reads.
inline const std::function<double()> no_loss = [] { return 0.0; };

/// A gradient norm of 1.5.
inline const std::function<double()> some_norm = [] { return 1.5; };

/// Returns the event of a step in a run of one epoch.
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
          .loss = loss,
          .gradient_norm = some_norm};
}

/// Returns the figures of a dev set: six of eight answers are right.
inline metrics::ClassificationReport some_report() {
  metrics::Classification metric{2};
  metrics::Logits logits(8, 2);
  logits.col(0).setZero();
  logits.col(1) << 1, 1, 1, 1, -1, -1, -1, -1;
  metric.add(logits, std::vector<std::int64_t>{1, 1, 1, 0, 0, 0, 0, 1});
  auto report = metric.report();
  report.loss = 0.5633;
  return report;
}

/// Returns the figures of a dev set for regression: two of four predictions are off by 1.
inline metrics::ClassificationReport some_report_of_regression() {
  metrics::Evaluation evaluation{ProblemType::regression};
  metrics::Logits logits(4, 1);
  logits << 2, 2, 5, 5;
  evaluation.add(logits, {}, std::vector<float>{2, 2, 4, 4});
  auto report = evaluation.report();
  report.loss = 0.5;
  return report;
}

/// Returns a report of two labels and two examples: the first example has and gets both labels, the
/// second one gets one that it does not have.
inline metrics::ClassificationReport some_report_of_several_labels() {
  metrics::Evaluation evaluation{ProblemType::multi_label};
  metrics::Logits logits(2, 2);
  logits << 1, 1, 1, -1;
  evaluation.add(logits, {}, std::vector<float>{1, 1, 0, 0});
  auto report = evaluation.report();
  report.loss = 0.75;
  return report;
}

}  // namespace seqtrain::tests
