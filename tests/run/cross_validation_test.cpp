#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/run/cross_validation.hpp>
#include <seqtrain/run/results.hpp>

#include "support/problem_of.hpp"
#include "support/shared_data.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::run {
namespace {

TEST(FoldFigure, HasTheMeanAndTheDeviationOfASample) {
  const FoldFigure figure{.name = "accuracy", .each = {0.5, 0.75, 1}};
  EXPECT_EQ(figure.mean(), 0.75);
  EXPECT_EQ(figure.deviation(), 0.25);
}

TEST(CrossValidation, TakesTheFiguresOfEachFold) {
  CrossValidation all;
  for (const char* text :
       {R"({"dev": {"problem_type": "x", "accuracy": 0.5, "loss": 1, "examples": 4, "labels": {},
           "macro_average": {"precision": 1, "recall": 1, "f1": 0.25}},
           "baseline": {"linear": {"accuracy": 0.75}, "examples": 3}})",
        R"({"dev": {"accuracy": 1, "loss": null, "metrics": {"pearson": 0.5, "micro_f1": 1},
           "macro_average": {"f1": 0.75}},
           "baseline": {"linear": {"accuracy": 0.25}}})"}) {
    add_fold(all, json::Document::parse(text, "metrics.json").root());
  }
  all.label_errors = 2;
  json::Writer out;
  out.begin_object();
  append(out, all);
  EXPECT_EQ(out.end_object().text(),
            R"({"cross_validation":{"folds":2,"figures":{"accuracy":{"mean":0.75,)"
            R"("standard_deviation":0.3535533905932738,"each":[0.5,1]},"loss":{"mean":null,)"
            R"("standard_deviation":null,"each":[1,null]},"macro_f1":{"mean":0.5,)"
            R"("standard_deviation":0.3535533905932738,"each":[0.25,0.75]},"pearson":{"mean":null,)"
            R"("standard_deviation":null,"each":[null,0.5]}},"baseline":{)"
            R"("linear accuracy":{"mean":0.5,"standard_deviation":0.3535533905932738,)"
            R"("each":[0.75,0.25]}},"examples_without_prediction":0,)"
            R"("label_errors":2,"equal_texts_with_different_labels":0}})");
}

TEST(CrossValidation, TellsHowManyExamplesHaveNoPrediction) {
  EXPECT_EQ(left_out_warning(0, 9), "");
  EXPECT_EQ(left_out_warning(3, 9),
            "3 of 9 examples have no prediction in out_of_fold.jsonl, and their labels are not "
            "looked at: a fold keeps at most 67108864 scores; take more folds");
}

class OutOfFoldTest : public testing::Test {
 protected:
  std::vector<OutOfFold> read(std::string_view text, std::int64_t fold = 1) const {
    std::vector<OutOfFold> all;
    read_fold(all, tests::write_file(directory_ / "predictions.jsonl", text), fold);
    return all;
  }

  tests::TemporaryDirectory directory_;
};

TEST_F(OutOfFoldTest, IsWrittenAsItWasRead) {
  const auto all = read(
      R"({"split":"dev","row":3,"gold":"a","predicted":"b","scores":[0.25,0.75],"loss":1.5}
{"split":"test","row":1,"gold":"a","predicted":"a","scores":[1,0],"loss":0}
{"split":"dev","row":4,"gold":"ü \"b\"","predicted":null,"scores":null,"loss":null}
)",
      2);
  ASSERT_EQ(all.size(), 2U);
  write_out_of_fold(directory_ / "out.jsonl", all);
  EXPECT_EQ(tests::read_file(directory_ / "out.jsonl"),
            R"({"row":3,"fold":2,"gold":"a","predicted":"b","scores":[0.25,0.75],"loss":1.5}
{"row":4,"fold":2,"gold":"ü \"b\"","predicted":null,"loss":null}
)");
}

TEST_F(OutOfFoldTest, HasTheFiguresOfAllExamples) {
  const std::vector<std::string> labels{"a", "b"};
  auto report = report_of(
      read(R"({"split":"dev","row":1,"gold":"a","predicted":"a","scores":[0.9,0.1],"loss":0.5}
{"split":"dev","row":2,"gold":"b","predicted":"a","scores":[0.8,0.2],"loss":1.5}
)"),
      labels, ProblemType::single_label);
  EXPECT_EQ(report.accuracy, 0.5);
  EXPECT_EQ(report.loss, 1);
  report = report_of(
      read(R"({"split":"dev","row":1,"gold":["b"],"predicted":["b"],"scores":[0.1,0.7],"loss":1}
{"split":"dev","row":2,"gold":["a","b"],"predicted":["a"],"scores":[0.6,0.4],"loss":1}
)"),
      labels, ProblemType::multi_label);
  EXPECT_EQ(report.accuracy, 0.5);
  report = report_of(read(R"({"split":"dev","row":1,"gold":2,"predicted":4,"loss":4}
{"split":"dev","row":2,"gold":3,"predicted":3,"loss":0}
{"split":"dev","row":3,"gold":3,"predicted":null,"loss":null}
)"),
                     {}, ProblemType::regression);
  EXPECT_EQ(metrics::value_of(report.figures, "mean_squared_error"), 2);
  report = report_of(
      read(R"({"split":"dev","row":1,"gold":{"v":2,"a":1},"predicted":{"a":1,"v":4},"loss":2}
{"split":"dev","row":2,"gold":{"v":3,"a":0},"predicted":{"a":2,"v":3},"loss":2}
{"split":"dev","row":3,"gold":null,"predicted":{"a":2,"v":3},"loss":null}
{"split":"dev","row":4,"gold":{"v":3,"a":0},"predicted":null,"loss":null}
)"),
      std::vector<std::string>{"v", "a"}, ProblemType::regression);
  EXPECT_EQ(report.examples, 2);
  EXPECT_EQ(metrics::value_of(report.figures, "mean_squared_error"), 2);
  EXPECT_EQ(metrics::value_of(report.figures, "a_mean_absolute_error"), 1);
}

// The golden answers are cleanlab's: see tests/golden/label_errors.py. The second set has 5 % of
// its labels flipped.
TEST_F(OutOfFoldTest, HasTheLabelErrorsOfCleanlabOnTheSameScores) {
  const auto document = json::Document::load(tests::golden() / "label_errors.json");
  for (const auto& golden : document.root().at("cases").items()) {
    const auto scores = golden.at("scores").items();
    const auto given = golden.at("labels").items();
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < scores.front().items().size(); ++i) {
      labels.push_back("label " + std::to_string(i));
    }
    std::string lines;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      json::Writer line;
      line.begin_object().member("split", "dev").member("row", i + 1);
      line.member("gold", labels.at(static_cast<std::size_t>(given[i].integer())));
      line.member("predicted", labels.front()).key("scores").begin_array();
      for (const auto& score : scores[i].items()) line.value(score.number());
      lines += line.end_array().member("loss", 1).end_object().text() + "\n";
    }
    std::vector<std::size_t> found, expected;
    std::size_t right = 0, theirs = 0;
    const auto flipped = golden.at("flipped").items();
    const auto is_flipped = [&](std::size_t row) {
      return std::ranges::any_of(flipped, [&](const auto& each) {
        return static_cast<std::size_t>(each.integer()) == row;
      });
    };
    const auto all = read(lines);
    for (const auto& error : find_label_errors(all, labels)) {
      found.push_back(error.row);
      right += is_flipped(error.row) ? 1 : 0;
    }
    for (const auto& row : golden.at("rows").items()) {
      expected.push_back(static_cast<std::size_t>(row.integer()));
      theirs += is_flipped(expected.back()) ? 1 : 0;
    }
    EXPECT_EQ(found, expected);
    EXPECT_EQ(right, theirs);  // so precision and recall are cleanlab's
    EXPECT_GT(right, 0U);
  }
}

TEST_F(OutOfFoldTest, LeavesOutExamplesWithoutALabelOrScores) {
  const auto all =
      read(R"({"split":"dev","row":1,"gold":null,"predicted":"a","scores":[1,0],"loss":null}
{"split":"dev","row":2,"gold":"a","predicted":null,"scores":null,"loss":null}
)");
  EXPECT_TRUE(find_label_errors(all, std::vector<std::string>{"a", "b"}).empty());
}

}  // namespace
}  // namespace seqtrain::run
