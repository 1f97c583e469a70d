#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/metrics/threshold_scores.hpp>

namespace seqtrain::metrics {
namespace {

TEST(ThresholdScores, CountsEachLabelOnItsOwn) {
  ThresholdScores scores{0.3, ProblemType::multi_label};
  Logits logits{3, 3};
  logits << 2, -0.5, -9,  // sigmoids: 0.88, 0.38, 0
      -2, 0.5, -9,        // 0.12, 0.62, 0
      1, -3, -9;          // 0.73, 0.05, 0
  scores.add(logits, {}, std::vector<float>{1, 0, 0, 0, 1, 0, 0, 1, 0});
  const auto found = scores.scores();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_DOUBLE_EQ(found[0].accuracy, 2.0 / 3);
  EXPECT_DOUBLE_EQ(found[0].precision.value(), 0.5);
  EXPECT_DOUBLE_EQ(found[0].recall.value(), 1);
  EXPECT_DOUBLE_EQ(found[1].accuracy, 1.0 / 3);
  EXPECT_DOUBLE_EQ(found[1].precision.value(), 0.5);
  EXPECT_DOUBLE_EQ(found[1].recall.value(), 0.5);
  EXPECT_DOUBLE_EQ(found[2].accuracy, 1);
  EXPECT_FALSE(found[2].precision);
  EXPECT_FALSE(found[2].recall);
}

TEST(ThresholdScores, TakesTheSoftmaxWhereAnExampleHasOneLabel) {
  ThresholdScores scores{0.3, ProblemType::single_label};
  Logits logits{2, 2};
  logits << 0.5F, 0, 3, 0;  // softmax: 0.62 and 0.38, 0.95 and 0.05
  const std::vector<std::int64_t> labels{0, 1};
  scores.add(logits, labels, {});
  const auto found = scores.scores();
  EXPECT_DOUBLE_EQ(found[0].accuracy, 0.5);
  EXPECT_DOUBLE_EQ(found[1].precision.value(), 0);
  EXPECT_DOUBLE_EQ(found[1].recall.value(), 0);
}

TEST(ThresholdScores, RefusesWhatDoesNotFit) {
  EXPECT_THROW((ThresholdScores{1, ProblemType::multi_label}), InputError);
  ThresholdScores scores{0.5, ProblemType::multi_label};
  EXPECT_THROW(scores.add(Logits{2, 2}, {}, std::vector<float>{1}), Error);
}

}  // namespace
}  // namespace seqtrain::metrics
