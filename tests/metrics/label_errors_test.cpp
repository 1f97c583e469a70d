#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/metrics/label_errors.hpp>

#include "support/problem_of.hpp"
#include "support/shared_data.hpp"

namespace seqtrain::metrics {
namespace {

/// Returns the integers of a JSON array.
template <class Integer>
std::vector<Integer> integers(const json::Value& array) {
  std::vector<Integer> found;
  for (const auto& item : array.items()) found.push_back(static_cast<Integer>(item.integer()));
  return found;
}

LabelScores2d scores_in(const json::Value& array) {
  const auto rows = array.items();
  LabelScores2d scores(static_cast<Eigen::Index>(rows.size()),
                       static_cast<Eigen::Index>(rows[0].items().size()));
  for (Eigen::Index row = 0; row < scores.rows(); ++row) {
    const auto line = rows[static_cast<std::size_t>(row)].items();
    for (Eigen::Index i = 0; i < scores.cols(); ++i) {
      scores(row, i) = line[static_cast<std::size_t>(i)].number();
    }
  }
  return scores;
}

TEST(FindLabelErrors, FindsWhatCleanlabFinds) {
  const auto document = json::Document::load(tests::golden() / "label_errors.json");
  for (const auto& golden : document.root().at("cases").items()) {
    const auto labels = integers<std::int32_t>(golden.at("labels"));
    const auto found = find_label_errors(scores_in(golden.at("scores")), labels);
    std::vector<std::size_t> rows;
    for (const LabelError& error : found.rows) {
      rows.push_back(error.row);
      EXPECT_EQ(error.label, static_cast<std::size_t>(labels[error.row]));
      EXPECT_NE(error.suggested, error.label);
    }
    EXPECT_EQ(rows, integers<std::size_t>(golden.at("rows")));
    const auto joint = golden.at("joint").items();
    for (std::size_t i = 0; i < joint.size(); ++i) {
      const auto line = integers<std::int64_t>(joint[i]);
      for (std::size_t j = 0; j < line.size(); ++j) {
        EXPECT_EQ(found.joint(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)), line[j]);
      }
      EXPECT_NEAR(found.thresholds[i], golden.at("thresholds").items()[i].number(), 1e-12);
    }
  }
}

TEST(FindLabelErrors, LeavesRowsOfNoLabelAlone) {
  LabelScores2d scores(4, 2);
  scores << 0.9, 0.1, 0.6, 0.4, 0.1, 0.9, 0.45, 0.55;
  const auto found = find_label_errors(scores, std::vector<std::int32_t>{0, 0, 1, 0});
  // The thresholds are 0.65 and 0.9, which the last row reaches with no label.
  EXPECT_TRUE(found.rows.empty());
  EXPECT_EQ(found.joint(0, 0) + found.joint(0, 1), 1);
}

TEST(FindLabelErrors, RefusesWhatDoesNotFit) {
  LabelScores2d scores(2, 2);
  scores << 0.5, 0.5, 0.2, 0.8;
  using Ids = std::vector<std::int32_t>;
  const auto problem = [&](const Ids& labels) {
    return tests::problem_of([&] { (void)find_label_errors(scores, labels); });
  };
  EXPECT_EQ(problem({0}), "label errors: labels: must be one for each row of scores");
  EXPECT_EQ(problem({0, 2}), "label errors: labels: must be ids of the labels that have scores");
  EXPECT_EQ(problem({0, -1}), "label errors: labels: must be ids of the labels that have scores");
  scores(0, 0) = 1.5;
  EXPECT_EQ(problem({0, 1}), "label errors: scores: must be 0 to 1");
  EXPECT_EQ(tests::problem_of([] {
              (void)find_label_errors(LabelScores2d::Ones(2, 1), Ids{0, 0});
            }),
            "label errors: scores: must be of at least two labels");
}

}  // namespace
}  // namespace seqtrain::metrics
