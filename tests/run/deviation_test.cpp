#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/run/deviation.hpp>

namespace seqtrain::run {
namespace {

Predictions predictions_of(const std::vector<float>& predicted, const std::vector<float>& targets) {
  Predictions predictions{.problem_type = ProblemType::regression};
  predictions.logits.resize(static_cast<Eigen::Index>(predicted.size()), 1);
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    predictions.logits(static_cast<Eigen::Index>(i), 0) = predicted[i];
    predictions.rows.push_back(static_cast<std::int64_t>(i));
    predictions.gold.push_back(std::isnan(targets[i]) ? -1 : 0);
  }
  predictions.targets = targets;
  return predictions;
}

TEST(Deviation, IsThatOfScikitLearn) {
  // sklearn.metrics.r2_score([3, -0.5, 2, 7], [2.5, 0.0, 2, 8]), mean_absolute_error
  const auto found = deviation(predictions_of({2.5, 0.0, 2, 8}, {3, -0.5, 2, 7}));
  EXPECT_EQ(found.examples, 4);
  EXPECT_NEAR(found.r_squared, 0.9486081370449679, 1e-12);
  EXPECT_NEAR(found.mean_absolute_error, 0.5, 1e-12);
}

TEST(Deviation, IsThatOfOneOfSeveralTargets) {
  Predictions predictions = predictions_of({2.5, 0.0, 2, 8}, {3, -0.5, 2, 7});
  predictions.logits = metrics::Logits::Ones(4, 2);
  predictions.logits.col(1) << 2.5F, 0, 2, 8;
  predictions.targets = {1, 3, 1, -0.5, 1, 2, 1, 7};
  EXPECT_NEAR(deviation(predictions, 1).r_squared, 0.9486081370449679, 1e-12);
  EXPECT_EQ(deviation(predictions, 0).mean_absolute_error, 0);
}

TEST(Deviation, OfTheMeanExplainsNothing) {
  EXPECT_NEAR(deviation(predictions_of({2, 2, 2}, {1, 2, 3})).r_squared, 0, 1e-12);
}

TEST(Deviation, LeavesOutExamplesWithoutATarget) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  const auto found = deviation(predictions_of({1, 9, 2}, {1, none, 3}));
  EXPECT_EQ(found.examples, 2);
  EXPECT_NEAR(found.mean_absolute_error, 0.5, 1e-12);
}

TEST(Deviation, OfNothingOrOfEqualTargetsIsUnknown) {
  EXPECT_TRUE(std::isnan(deviation({}).mean_absolute_error));
  EXPECT_TRUE(std::isnan(deviation(predictions_of({1, 2}, {3, 3})).r_squared));
}

}  // namespace
}  // namespace seqtrain::run
