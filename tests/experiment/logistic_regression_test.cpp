#include <cstdint>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/experiment/logistic_regression.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::experiment::few_shot {
namespace {

using namespace seqtrain;

Eigen::MatrixXd matrix(const json::Value& rows) {
  const auto lines = rows.items();
  Eigen::MatrixXd result(std::ssize(lines), std::ssize(lines.front().items()));
  for (Eigen::Index row = 0; row < result.rows(); ++row) {
    for (Eigen::Index i = 0; const auto& number : lines[static_cast<std::size_t>(row)].items()) {
      result(row, i++) = number.number();
    }
  }
  return result;
}

/// The answers are those of tests/golden/few_shot.py.
TEST(LogisticRegression, ConvergesToScikitLearns) {
  const auto document = json::Document::load(tests::golden() / "few_shot.json");
  const auto cases = document.root().at("regressions").items();
  EXPECT_EQ(cases.size(), 2U);
  for (const auto& one : cases) {
    const auto features = matrix(one.at("features"));
    std::vector<std::int64_t> labels;
    for (const auto& label : one.at("labels").items()) labels.push_back(label.integer());
    const auto expected = matrix(one.at("map"));
    const auto found = logistic_regression(features, labels, expected.cols());
    EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-6);
  }
}

TEST(LogisticRegression, TakesFeaturesOfAnySize) {
  for (const double size : {1e-30, 1e-3, 1e3}) {
    const Eigen::MatrixXd features = size * Eigen::MatrixXd::Identity(4, 4);
    const auto map = logistic_regression(features, std::vector<std::int64_t>{0, 1, 2, 0}, 3);
    EXPECT_TRUE(map.allFinite());
    const Eigen::MatrixXd logits =
        (features * map.topRows(4)).rowwise() + Eigen::RowVectorXd{map.row(4)};
    if (size < 1) continue;  // the penalty outweighs them
    EXPECT_GT(logits(1, 1), logits(1, 0));
    EXPECT_GT(logits(2, 2), logits(2, 0));
  }
}

}  // namespace
}  // namespace seqtrain::experiment::few_shot
