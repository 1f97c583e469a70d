#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/metrics/precision_recall.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::metrics {
namespace {

/// Returns the F1, precision and recall at a threshold, by counting.
LabelScores counted(const std::vector<double>& scores_of, const std::vector<std::uint8_t>& positive,
                    double above) {
  std::int64_t support = 0, said = 0, hits = 0;
  for (std::size_t i = 0; i < scores_of.size(); ++i) {
    support += positive[i];
    said += scores_of[i] > above ? 1 : 0;
    hits += scores_of[i] > above ? positive[i] : 0;
  }
  return scores(support, said, hits);
}

TEST(PrecisionRecall, IsThatOfScikitLearn) {
  const auto document = json::Document::load(tests::golden() / "decisions.json");
  for (const auto& golden : document.root().at("curves").items()) {
    std::vector<double> scores;
    std::vector<std::uint8_t> positive;
    for (const auto& score : golden.at("scores").items()) scores.push_back(score.number());
    for (const auto& is : golden.at("positive").items()) {
      positive.push_back(static_cast<std::uint8_t>(is.integer()));
    }
    const auto curve = precision_recall(scores, positive);
    const auto points = golden.at("curve").items();
    ASSERT_EQ(curve.size(), points.size());
    for (std::size_t i = 0; i < curve.size(); ++i) {
      EXPECT_EQ(curve[i].score, points[i].items()[0].number());
      EXPECT_NEAR(curve[i].precision, points[i].items()[1].number(), 1e-15);
      EXPECT_NEAR(curve[i].recall, points[i].items()[2].number(), 1e-15);
    }
    EXPECT_NEAR(average_precision(curve), golden.at("average_precision").number(), 1e-14);

    const auto best = best_f1_threshold(curve);
    const double f1 = Operating{best.above, best.precision, best.recall}.f1();
    EXPECT_NEAR(f1, golden.at("best_f1").number(), 1e-14);
    EXPECT_NEAR(counted(scores, positive, best.above).f1, f1, 1e-14);
    const auto precise = threshold_of_precision(curve, 0.75);
    EXPECT_EQ(precise.recall, golden.at("recall_at_75").number());
    EXPECT_NEAR(counted(scores, positive, precise.above).recall, precise.recall, 1e-14);
  }
}

TEST(PrecisionRecall, OfALabelThatNobodyHasIsFlat) {
  const std::vector<double> scores{0.2, 0.9};
  const std::vector<std::uint8_t> positive{0, 0};
  const auto curve = precision_recall(scores, positive);
  ASSERT_EQ(curve.size(), 2U);
  EXPECT_EQ(average_precision(curve), 0);
  EXPECT_EQ(best_f1_threshold(curve).above, 0.5);
  EXPECT_EQ(threshold_of_precision(curve, 0.5).above, 1);
}

TEST(PrecisionRecall, RefusesOtherNumbers) {
  const std::vector<double> scores{0.2, 0.9};
  const std::vector<std::uint8_t> positive{0};
  EXPECT_THROW((void)precision_recall(scores, positive), Error);
}

}  // namespace
}  // namespace seqtrain::metrics
