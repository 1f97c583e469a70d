#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/metric.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::metrics {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

Logits matrix(const std::vector<std::vector<float>>& rows) {
  Logits result(static_cast<Eigen::Index>(rows.size()),
                static_cast<Eigen::Index>(rows.empty() ? 0 : rows.front().size()));
  for (Eigen::Index r = 0; r < result.rows(); ++r) {
    for (Eigen::Index c = 0; c < result.cols(); ++c) {
      result(r, c) = rows[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)];
    }
  }
  return result;
}

using Labels = std::vector<std::int64_t>;

std::vector<std::vector<float>> read_rows(const json::Value& value) {
  std::vector<std::vector<float>> rows;
  for (const auto& line : value.items()) {
    rows.emplace_back();
    for (const auto& item : line.items()) rows.back().push_back(static_cast<float>(item.number()));
  }
  return rows;
}

void expect_equal(const ClassificationReport& report, const json::Value& golden) {
  EXPECT_DOUBLE_EQ(report.accuracy, golden.at("accuracy").number());
  const auto scores = golden.at("scores").items();
  const auto confusion = golden.at("confusion").items();
  ASSERT_EQ(report.labels.size(), scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const auto expected = scores[i].items();
    EXPECT_DOUBLE_EQ(report.labels[i].precision, expected[0].number());
    EXPECT_DOUBLE_EQ(report.labels[i].recall, expected[1].number());
    EXPECT_DOUBLE_EQ(report.labels[i].f1, expected[2].number());
    EXPECT_EQ(static_cast<double>(report.labels[i].support), expected[3].number());
    const auto row = confusion[i].items();
    for (std::size_t p = 0; p < row.size(); ++p) {
      EXPECT_EQ(report.confusion(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(p)),
                row[p].integer());
    }
  }
  const auto macro = golden.at("macro").items();
  EXPECT_DOUBLE_EQ(report.macro_average().precision, macro[0].number());
  EXPECT_DOUBLE_EQ(report.macro_average().recall, macro[1].number());
  EXPECT_DOUBLE_EQ(report.macro_average().f1, macro[2].number());
  EXPECT_EQ(report.macro_average().support, report.examples);
}

TEST(Classification, EqualsScikitLearn) {
  const auto golden = json::Document::load(tests::golden() / "metrics.json");
  for (const auto& given : golden.root().at("cases").items()) {
    SCOPED_TRACE(given.at("name").string());
    Labels labels;
    for (const auto& label : given.at("labels").items()) labels.push_back(label.integer());
    Classification metric;
    metric.add(matrix(read_rows(given.at("logits"))), labels);
    expect_equal(metric.report(), given);
  }
}

TEST(Classification, BatchesAndMergedPartsGiveTheSameAsOneBatch) {
  const auto golden = json::Document::load(tests::golden() / "metrics.json");
  const auto given = golden.root().at("cases").items().front();
  const auto rows = read_rows(given.at("logits"));
  std::vector<Classification> parts(3);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Labels label{given.at("labels").items()[i].integer()};
    parts[i % 2].add(matrix({rows[i]}), label);  // the third part has no examples
  }
  Classification whole;
  for (const auto& part : parts) whole.merge(part);
  expect_equal(whole.report(), given);
}

TEST(Classification, HasNoAccuracyOverNothing) {
  const auto report = Classification{3}.report();
  EXPECT_EQ(report.examples, 0);
  EXPECT_TRUE(std::isnan(report.accuracy));
  EXPECT_TRUE(std::isnan(report.loss));
  EXPECT_EQ(report.labels.size(), 3U);
  EXPECT_EQ(report.confusion, Confusion::Zero(3, 3));
}

TEST(Classification, LeavesRowsWithoutALabelOut) {
  Classification metric{2};
  metric.add(matrix({{1, 0}, {0, 1}, {0, 1}}), Labels{0, -1, 1});
  EXPECT_EQ(metric.report().examples, 2);
  EXPECT_EQ(metric.report().accuracy, 1);
}

TEST(Classification, ANanIsTheLargestLogit) {
  Classification metric{3};
  metric.add(matrix({{5, nan, nan}, {nan, 1, 2}, {nan, nan, nan}}), Labels{1, 0, 0});
  EXPECT_EQ(metric.report().accuracy, 1);
}

TEST(CrossEntropy, EqualsTorchs) {
  const auto golden = json::Document::load(tests::golden() / "metrics.json");
  for (const auto& given : golden.root().at("cases").items()) {
    const Logits logits = matrix(read_rows(given.at("logits")));
    double sum = 0;
    for (Eigen::Index row = 0; const auto& label : given.at("labels").items()) {
      sum += cross_entropy(logits.row(row++), label.integer());
    }
    const double loss = given.at("loss").number();
    EXPECT_NEAR(sum / static_cast<double>(logits.rows()), loss, 1e-12 * loss);
  }
}

TEST(CrossEntropy, OfInfiniteLogitsIsWhatTorchMakesOfThem) {
  const Logits low = matrix({{-infinity, 0}}), high = matrix({{infinity, 0}});
  EXPECT_EQ(cross_entropy(low.row(0), 1), 0);
  EXPECT_EQ(cross_entropy(low.row(0), 0), infinity);
  EXPECT_TRUE(std::isnan(cross_entropy(high.row(0), 0)));
}

TEST(Classification, RefusesWhatDoesNotFit) {
  Classification metric{2};
  EXPECT_THROW(metric.add(matrix({{1, 2, 3}}), Labels{0}), Error);
  EXPECT_THROW(metric.add(matrix({{1, 2}}), Labels{0, 1}), Error);
  EXPECT_THROW(metric.add(matrix({{1, 2}}), Labels{2}), Error);
  EXPECT_THROW(metric.add(matrix({{1, 2}}), Labels{-2}), Error);
  EXPECT_THROW(metric.merge(Classification{3}), Error);
  EXPECT_EQ(metric.report().examples, 0);
}

TEST(Argmax, TakesTheLowestOfEquals) {
  EXPECT_EQ(argmax(matrix({{1, 3, 3}}).row(0)), 1);
  EXPECT_EQ(argmax(matrix({{2, 2, 2}}).row(0)), 0);
  EXPECT_EQ(argmax(matrix({{-infinity, -infinity}}).row(0)), 0);
  EXPECT_EQ(argmax(matrix({{1, nan, 9}}).row(0)), 1);
}

TEST(LabelName, FallsBackToTheNumber) {
  const std::vector<std::string> names{"no", "yes"};
  EXPECT_EQ(label_name(names, 1), "yes");
  EXPECT_EQ(label_name(names, 2), "LABEL_2");
  EXPECT_EQ(shown_label(names, 1), "yes");
  EXPECT_EQ(shown_label(std::vector<std::string>{"a\nb\t"}, 0), "a\\nb\\t");
}

static_assert(Metric<Matthews>);

Confusion confusion_in(const json::Value& value) {
  const auto rows = value.items();
  Confusion confusion(rows.size(), rows.size());
  for (Eigen::Index i = 0; i < confusion.rows(); ++i) {
    const auto row = rows[static_cast<std::size_t>(i)].items();
    for (Eigen::Index j = 0; j < confusion.cols(); ++j) {
      confusion(i, j) = row[static_cast<std::size_t>(j)].integer();
    }
  }
  return confusion;
}

TEST(Matthews, EqualsScikitLearn) {
  const auto golden = json::Document::load(tests::golden() / "metrics.json");
  for (const auto& given : golden.root().at("cases").items()) {
    EXPECT_NEAR(matthews_correlation(confusion_in(given.at("confusion"))),
                given.at("matthews").number(), 1e-12)
        << given.at("name").string();
  }
}

TEST(Matthews, IsZeroWithoutExamples) {
  EXPECT_EQ(Matthews{}.value(), 0);
}

TEST(Matthews, CountsPartsAndMergesThem) {
  Logits logits(4, 2);
  logits << 1, 0, 1, 0, 0, 1, 0, 1;
  const std::vector<std::int64_t> labels{0, 1, 1, 1};
  Matthews whole, first, second;
  whole.add(logits, labels);
  EXPECT_NEAR(whole.value(), 2 / std::sqrt(2.0 * 2 * 1 * 3), 1e-12);
  first.add(logits.topRows(1), std::vector<std::int64_t>{0});
  second.add(logits.bottomRows(3), std::vector<std::int64_t>{1, 1, 1});
  first.merge(second);
  EXPECT_EQ(first.value(), whole.value());
  EXPECT_EQ(figure(whole).name, "matthews_correlation");
  EXPECT_EQ(figure(whole).value, whole.value());
}

}  // namespace
}  // namespace seqtrain::metrics
