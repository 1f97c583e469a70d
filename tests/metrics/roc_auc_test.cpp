#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/metrics/roc_auc.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::metrics {
namespace {

TEST(RocAucOfScores, IsThatOfScikitLearn) {
  const auto document = json::Document::load(tests::golden() / "roc_auc.json");
  for (const auto& expected : document.root().items()) {
    std::vector<double> scores;
    std::vector<bool> is_one;
    for (const auto& score : expected.at("scores").items()) scores.push_back(score.number());
    for (const auto& one : expected.at("is_one").items()) is_one.push_back(one.integer() == 1);
    EXPECT_NEAR(roc_auc(scores, is_one).area, expected.at("area").number(), 1e-12);
  }
}

TEST(RocAucOfScores, HasTheErrorOfHanleyAndMcNeil) {
  std::vector<double> scores;
  std::vector<bool> is_one;
  for (int i = 0; i < 100; ++i) {
    scores.push_back(i % 50);
    is_one.push_back(i < 50);
  }
  const auto auc = roc_auc(scores, is_one);
  EXPECT_DOUBLE_EQ(auc.area, 0.5);
  EXPECT_NEAR(auc.standard_error, std::sqrt((0.25 + 2 * 49 * (1 / 3.0 - 0.25)) / 2500), 1e-12);
}

TEST(RocAucOfScores, NeedsBothClasses) {
  EXPECT_TRUE(std::isnan(roc_auc(std::vector<double>{1, 2}, {true, true}).area));
  EXPECT_TRUE(std::isnan(roc_auc({}, {}).area));
  EXPECT_DOUBLE_EQ(roc_auc(std::vector<double>{1, 2}, {false, true}).area, 1);
}

TEST(RocAucOfScores, IsUndefinedIfAScoreIs) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(
      std::isnan(roc_auc(std::vector<double>{1, none, 2, 0}, {true, true, false, false}).area));
  EXPECT_TRUE(std::isnan(roc_auc(std::vector<double>{none, none}, {true, false}).area));
}

}  // namespace
}  // namespace seqtrain::metrics
