#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/metrics/evaluation.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::metrics {
namespace {

constexpr float no_number = std::numeric_limits<float>::quiet_NaN();

/// Rows of numbers, or a column of them.
Logits table_in(const json::Value& value) {
  const auto rows = value.items();
  const bool column = rows.front().is_number();
  Logits table(static_cast<Eigen::Index>(rows.size()),
               column ? 1 : static_cast<Eigen::Index>(rows.front().items().size()));
  for (Eigen::Index r = 0; r < table.rows(); ++r) {
    const auto& row = rows[static_cast<std::size_t>(r)];
    const auto cells = column ? std::vector{row} : row.items();
    for (Eigen::Index c = 0; c < table.cols(); ++c) {
      table(r, c) = static_cast<float>(cells[static_cast<std::size_t>(c)].number());
    }
  }
  return table;
}

/// Evaluates the rows of a case in batches of this size.
ClassificationReport evaluated(const json::Value& given, ProblemType type, Eigen::Index batch) {
  const Logits logits = table_in(given.at("logits"));
  const Logits targets = table_in(given.at("targets"));
  Evaluation evaluation{type};
  for (Eigen::Index row = 0; row < logits.rows(); row += batch) {
    const Eigen::Index rows = std::min(batch, logits.rows() - row);
    const std::vector<std::int64_t> labels(static_cast<std::size_t>(rows));
    evaluation.add(
        logits.middleRows(row, rows), labels,
        {targets.data() + row * targets.cols(), static_cast<std::size_t>(rows * targets.cols())});
  }
  return evaluation.report();
}

void expect_scores(const LabelScores& scores, const json::Value& golden) {
  const auto expected = golden.items();
  EXPECT_DOUBLE_EQ(scores.precision, expected[0].number());
  EXPECT_DOUBLE_EQ(scores.recall, expected[1].number());
  EXPECT_DOUBLE_EQ(scores.f1, expected[2].number());
  if (expected.size() > 3) {
    EXPECT_EQ(static_cast<double>(scores.support), expected[3].number());
  }
}

double figure_of(const ClassificationReport& report, std::string_view name) {
  for (const auto& figure : report.figures) {
    if (figure.name == name) return figure.value;
  }
  ADD_FAILURE() << "no figure " << name;
  return 0;
}

template <class Use>
void for_each_case(const char* kind, const Use& use) {
  const auto golden = json::Document::load(tests::golden() / "metrics.json");
  for (const auto& given : golden.root().at(kind).items()) use(given);
}

TEST(MultiLabel, EqualsScikitLearn) {
  for_each_case("multi_label", [](const json::Value& given) {
    const auto report = evaluated(given, ProblemType::multi_label, 9);
    EXPECT_EQ(report.problem_type, ProblemType::multi_label);
    EXPECT_DOUBLE_EQ(report.accuracy, given.at("accuracy").number());
    const auto scores = given.at("scores").items();
    ASSERT_EQ(report.labels.size(), scores.size());
    for (std::size_t i = 0; i < scores.size(); ++i) expect_scores(report.labels[i], scores[i]);
    expect_scores(micro_average(report.confusion), given.at("micro"));
    expect_scores(report.macro_average(), given.at("macro"));
    EXPECT_EQ(table_in(given.at("confusion")).cast<std::int64_t>(), report.confusion);
    EXPECT_EQ(figure_of(report, "micro_f1"), micro_average(report.confusion).f1);
    EXPECT_EQ(figure_of(report, "macro_f1"), report.macro_average().f1);
  });
}

TEST(Regression, EqualsScikitLearnAndSciPy) {
  for_each_case("regression", [](const json::Value& given) {
    const auto report = evaluated(given, ProblemType::regression, 9);
    EXPECT_EQ(report.problem_type, ProblemType::regression);
    for (const char* name : {"mean_squared_error", "pearson", "spearman"}) {
      EXPECT_NEAR(figure_of(report, name), given.at(name).number(), 1e-12) << name;
    }
    EXPECT_TRUE(std::isnan(report.accuracy));
    EXPECT_TRUE(report.labels.empty());
  });
}

TEST(Evaluation, LeavesRowsWithoutLabelsOut) {
  Logits logits(3, 2);
  logits << 1, -1, 2, 2, -3, -3;
  Evaluation several{ProblemType::multi_label};
  several.add(logits, std::vector<std::int64_t>{0, -1, 0},
              std::vector<float>{1, 0, no_number, no_number, 1, 0});
  EXPECT_EQ(several.report().examples, 2);
  EXPECT_EQ(several.report().accuracy, 0.5);
  Evaluation number{ProblemType::regression};
  number.add(logits.col(0), std::vector<std::int64_t>{0, -1, 0},
             std::vector<float>{2, no_number, -3});
  EXPECT_EQ(number.report().examples, 2);
  EXPECT_EQ(figure_of(number.report(), "mean_squared_error"), 0.5);
}

TEST(Evaluation, OfNothingHasNoNumbers) {
  for (const auto type :
       {ProblemType::single_label, ProblemType::regression, ProblemType::multi_label}) {
    const auto report = Evaluation{type}.report();
    EXPECT_EQ(report.problem_type, type);
    EXPECT_EQ(report.examples, 0);
    EXPECT_TRUE(std::isnan(report.loss));
    EXPECT_TRUE(std::isnan(report.accuracy));
  }
}

TEST(Regression, OfSeveralTargetsEqualsScikitLearnAndSciPy) {
  for_each_case("several_targets", [](const json::Value& given) {
    const auto report = evaluated(given, ProblemType::regression, 9);
    for (const char* name : {"mean_squared_error", "pearson", "spearman"}) {
      EXPECT_NEAR(figure_of(report, name), given.at(name).number(), 1e-12) << name;
    }
    const auto each = given.at("each").items();
    EXPECT_EQ(report.figures.size(), 3 + 5 * each.size());
    for (std::size_t k = 0; k < each.size(); ++k) {
      for (const auto figure : target_figures) {
        EXPECT_NEAR(figure_of(report, target_figure("LABEL_" + std::to_string(k), figure)),
                    each[k].at(figure).number(), 1e-12)
            << figure;
      }
    }
  });
}

TEST(Regression, NamesTheFiguresOfItsTargets) {
  Evaluation evaluation{ProblemType::regression, {"valence", "arousal"}};
  EXPECT_TRUE(std::isnan(figure_of(evaluation.report(), "arousal_pearson")));
  Logits logits(3, 2);
  logits << 1, 2, 3, 4, 9, 9;
  evaluation.add(logits, std::vector<std::int64_t>(3),
                 std::vector<float>{2, 2, 4, 6, 1, no_number});
  const auto report = evaluation.report();
  EXPECT_EQ(report.examples, 2);  // one lacks a target
  EXPECT_EQ(figure_of(report, "mean_squared_error"), 1.5);
  EXPECT_EQ(figure_of(report, "valence_mean_squared_error"), 1);
  EXPECT_EQ(figure_of(report, "arousal_mean_absolute_error"), 1);
  EXPECT_EQ(figure_of(report, "arousal_r_squared"), 0.5);
  EXPECT_EQ(report.targets, (std::vector<std::string>{"valence", "arousal"}));
  EXPECT_TRUE(is_target_figure("arousal_r_squared", report.targets));
  for (const char* other : {"pearson", "_pearson", "coverage", "masked_pearson", "arousal_own"}) {
    EXPECT_FALSE(is_target_figure(other, report.targets)) << other;
  }
  EXPECT_EQ((Evaluation{ProblemType::regression, {"score"}}.report().figures.size()), 3U);
  EXPECT_THROW(
      evaluation.add(Logits::Zero(1, 3), std::vector<std::int64_t>(1), std::vector<float>(3)),
      Error);
}

TEST(Evaluation, OfARegressionThatHasDivergedHasNoNumbers) {
  Evaluation evaluation{ProblemType::regression};
  evaluation.add(Logits::Constant(1, 1, no_number), std::vector<std::int64_t>{0},
                 std::vector<float>{1});
  EXPECT_TRUE(std::isnan(figure_of(evaluation.report(), "mean_squared_error")));
  EXPECT_EQ(evaluation.report().examples, 1);
}

TEST(Evaluation, RefusesTargetsThatDoNotFit) {
  const std::vector<std::int64_t> labels(2);
  Evaluation number{ProblemType::regression};
  EXPECT_THROW(number.add(Logits::Zero(2, 2), labels, std::vector<float>(2)), Error);
  EXPECT_THROW(number.add(Logits::Zero(2, 1), labels, {}), Error);
  Evaluation several{ProblemType::multi_label};
  several.add(Logits::Zero(2, 3), labels, std::vector<float>(6));
  EXPECT_THROW(several.add(Logits::Zero(2, 3), labels, std::vector<float>(5)), Error);
  EXPECT_THROW(several.add(Logits::Zero(2, 2), labels, std::vector<float>(4)), Error);
}

TEST(Evaluation, OfOneLabelAnExampleIsClassification) {
  Logits logits(2, 2);
  logits << 1, 0, 0, 1;
  const std::vector<std::int64_t> labels{0, 0};
  Evaluation evaluation{ProblemType::single_label};
  evaluation.add(logits, labels, {});
  Classification classification;
  classification.add(logits, labels);
  EXPECT_EQ(evaluation.report().confusion, classification.report().confusion);
}

}  // namespace
}  // namespace seqtrain::metrics
