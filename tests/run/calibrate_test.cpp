#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/run/calibrate.hpp>

namespace seqtrain::run {
namespace {

Predictions overconfident() {
  Predictions predictions{.rows = {0, 1, 2, 3}, .gold = {0, 0, 1, 1}};
  predictions.logits.resize(4, 2);
  predictions.logits << 9, 0, 9, 0, 0, 9, 9, 0;
  return predictions;
}

TEST(Calibrate, ChoosesATemperatureThatMovesNoDecision) {
  const predict::Task task{.labels = {"a", "b"}};
  const auto predictions = overconfident();
  const auto made = calibrate(predictions, task);
  EXPECT_NEAR(made.chosen.temperature, 9 / std::log(3), 1e-3);  // 3 of 4 are right
  EXPECT_TRUE(made.chosen.thresholds.empty());
  ASSERT_EQ(made.figures.size(), 2U);
  EXPECT_NEAR(made.figures[0].before, 0.25, 1e-3);
  EXPECT_NEAR(made.figures[0].after, 0, 1e-3);
  EXPECT_LT(made.figures[1].after, made.figures[1].before);
  const auto after = made.apply(task);
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    EXPECT_EQ(predict::chosen(predictions.logits_of(i), after),
              predict::chosen(predictions.logits_of(i), task));
  }
}

TEST(Calibrate, ChoosesAThresholdForEachLabel) {
  const predict::Task task{.labels = {"a", "b"}, .problem_type = ProblemType::multi_label};
  Predictions predictions{.problem_type = ProblemType::multi_label,
                          .rows = {0, 1, 2},
                          .gold = {0, 0, 0},
                          .targets = {1, 1, 1, 0, 0, 0}};
  predictions.logits.resize(3, 2);
  predictions.logits << -1, 3, -2, 2, -3, 1;  // a is never given, b always
  const auto made = calibrate(predictions, task);
  ASSERT_EQ(made.chosen.thresholds.size(), 2U);
  EXPECT_EQ(made.figures[0].name, "micro_f1");
  EXPECT_LT(made.figures[0].before, 1);
  EXPECT_EQ(made.figures[0].after, 1);
  const auto sure = calibrate(predictions, task, 0.3);
  EXPECT_LE(sure.chosen.thresholds[1], made.chosen.thresholds[1]);
}

TEST(Calibrate, LeavesOutALogitThatIsNotFinite) {
  const predict::Task task{.labels = {"a", "b"}};
  auto predictions = overconfident();
  const double temperature = calibrate(predictions, task).chosen.temperature;
  predictions.rows.push_back(4);
  predictions.gold.push_back(0);
  predictions.logits.conservativeResize(5, 2);
  predictions.logits.row(4) << std::nanf(""), 0;
  EXPECT_EQ(calibrate(predictions, task).chosen.temperature, temperature);
}

TEST(Calibrate, IsTold) {
  const std::vector<std::string> labels{"a", "b"};
  EXPECT_EQ(to_text({.chosen = {.temperature = 1.42134}, .figures = {{"loss", 0.9, 0.5}}}, labels),
            "Calibrated on dev: temperature 1.4213; loss 0.9000 before, 0.5000 after");
  EXPECT_EQ(to_text({.chosen = {.thresholds = {0.25, 0.75}}}, labels),
            "Calibrated on dev: thresholds a 0.2500, b 0.7500");
  const Calibrated many{.chosen = {.thresholds = std::vector<double>(134, 0.5)}};
  EXPECT_TRUE(to_text(many, {}).ends_with("0.5000, … and 126 more"));
}

TEST(Calibrate, RefusesRegression) {
  const predict::Task task{.labels = {"a"}, .problem_type = ProblemType::regression};
  EXPECT_THROW((void)calibrate(Predictions{}, task), InputError);
}

TEST(LabelCurves, HaveTheScoresOfPredictions) {
  const predict::Task task{.labels = {"a", "b"}, .temperature = 2};
  const auto predictions = overconfident();
  const auto curve = LabelCurves{predictions, task}(1);
  ASSERT_EQ(curve.size(), 2U);
  EXPECT_NEAR(curve[0].score, predict::scores(predictions.logits_of(2), task)[1], 1e-12);
  EXPECT_EQ(curve[0].precision, 1);
  EXPECT_EQ(curve[0].recall, 0.5);
}

}  // namespace
}  // namespace seqtrain::run
