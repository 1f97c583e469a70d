#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/metrics/matthews.hpp>
#include <seqtrain/train/evaluate.hpp>
#include <seqtrain/train/state.hpp>

#include "support/fakes.hpp"

namespace seqtrain::train {
namespace {

struct NumberBatch : tests::FakeBatch {
  std::vector<float> targets;
};

/// Says x of each example, whose truth is x + 1.
struct NumberModel : tests::FakeModel {
  using batch_type = NumberBatch;

  tests::FakeLoss accumulate(const NumberBatch&, double) { return {0}; }
  metrics::Logits logits(const NumberBatch& batch) {
    metrics::Logits result(batch.rows, 1);
    for (Eigen::Index row = 0; row < batch.rows; ++row) {
      result(row, 0) = static_cast<float>(batch.x[static_cast<std::size_t>(row)]);
    }
    return result;
  }
  [[nodiscard]] ProblemType problem_type() const { return ProblemType::regression; }
};

struct NumberLoader {
  using batch_type = NumberBatch;

  [[nodiscard]] std::vector<NumberBatch> epoch(std::int64_t) const {
    NumberBatch batch{{.rows = 3, .x = {1, 5, 2}, .labels = {0, 0, 0}}, {2, 6, 3}};
    return {batch, batch};
  }
  [[nodiscard]] std::int64_t batches_in(std::int64_t) const { return 2; }
  [[nodiscard]] std::int64_t examples() const { return 6; }
};

TEST(Evaluate, HasTheFiguresOfTheModelsProblem) {
  NumberModel model;
  NumberLoader loader;
  metrics::Matthews asked_for_labels;
  const auto report = evaluate(model, loader, {.split = "dev"}, asked_for_labels);
  EXPECT_EQ(report.problem_type, ProblemType::regression);
  EXPECT_EQ(report.examples, 6);
  EXPECT_EQ(report.loss, 1);
  ASSERT_EQ(report.figures.size(), 3U);  // none of a metric that knows labels only
  EXPECT_EQ(report.figures[1].name, "pearson");
  EXPECT_NEAR(report.figures[1].value, 1, 1e-12);
}

metrics::ClassificationReport of_regression(double loss) {
  return {.problem_type = ProblemType::regression, .loss = loss};
}

metrics::ClassificationReport of_several_labels(std::int64_t right, std::int64_t missed) {
  metrics::Confusion counts(1, metrics::label_counts);
  counts << 0, 0, missed, right;
  return metrics::make_multi_label_report(counts, 0, 0);
}

TEST(BestEpoch, OfRegressionHasTheLeastError) {
  const std::vector dev{of_regression(3), of_regression(1), of_regression(1), of_regression(2)};
  EXPECT_EQ(best_epoch(dev), 1U);
  EXPECT_TRUE(out_of_patience(dev, 2));
  EXPECT_FALSE(out_of_patience(dev, 3));
  EXPECT_EQ(best_epoch(std::vector{of_regression(std::nan("")), of_regression(4)}), 1U);
}

TEST(BestEpoch, OfSeveralLabelsHasTheHighestF1) {
  EXPECT_EQ(best_epoch(std::vector{of_several_labels(1, 3), of_several_labels(3, 1),
                                   of_several_labels(2, 2)}),
            1U);
}

}  // namespace
}  // namespace seqtrain::train
