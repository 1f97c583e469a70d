#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/run/predictions.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain::run {
namespace {

TEST(Predictions, AreALineAnExample) {
  const tests::TemporaryDirectory directory;
  Predictions predictions{.rows = {0, 1}, .gold = {1, -1}, .losses = {std::log(2), std::nan("")}};
  predictions.logits.resize(2, 2);
  predictions.logits << 0, 0, 1, -1;
  const predict::Task task{.labels = {"no \"quotes\"", "yes"}};
  const std::vector<PredictedSplit> splits{
      {.name = "dev", .predictions = &predictions, .records = {4, 9}},
      {.name = "test", .predictions = &predictions}};
  write_predictions(directory / "p", splits, task);
  const std::string text = tests::read_file(directory / "p");
  EXPECT_TRUE(text.starts_with(
      R"({"split":"dev","row":4,"gold":"yes","predicted":"no \"quotes\"","scores":[0.5,0.5],)"
      R"("loss":0.6931472})"
      "\n"
      R"({"split":"dev","row":9,"gold":null,)"))
      << text;
  const auto read = read_predictions(text, "test", "p");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].row, 1);
  EXPECT_EQ(read[0].gold, "\"yes\"");
  EXPECT_FALSE(read[0].right());
  EXPECT_TRUE(std::isnan(read[1].loss));
}

TEST(Predictions, HaveNoLabelWhereALogitIsNotFinite) {
  Predictions predictions{.rows = {0}, .gold = {1}, .losses = {std::nan("")}};
  predictions.logits.resize(1, 2);
  predictions.logits << std::nanf(""), 1;
  const PredictedSplit split{.name = "dev", .predictions = &predictions};
  const auto line = detail::prediction_line(split, 0, {.labels = {"a", "b"}});
  EXPECT_EQ(line, R"({"split":"dev","row":1,"gold":"b","predicted":null,"scores":null,"loss":null})"
                  "\n");
  EXPECT_FALSE(read_predictions(line, "dev", "p").at(0).right());
}

TEST(Predictions, OfOtherProblems) {
  Predictions predictions{
      .problem_type = ProblemType::multi_label, .rows = {0}, .gold = {0}, .targets = {1, 1}};
  predictions.logits.resize(1, 2);
  predictions.logits << 3, -3;
  const PredictedSplit split{.name = "dev", .predictions = &predictions};
  predict::Task task{.labels = {"a", "b"}, .problem_type = ProblemType::multi_label};
  EXPECT_TRUE(
      detail::prediction_line(split, 0, task)
          .starts_with(
              R"({"split":"dev","row":1,"gold":["a","b"],"predicted":["a"],"scores":[0.9)"));

  predictions.problem_type = task.problem_type = ProblemType::regression;
  task.labels = {"LABEL_0"};
  predictions.logits.resize(1, 1);
  predictions.logits << 3.5F;
  predictions.targets = {3};
  predictions.losses = {0.25};
  EXPECT_EQ(detail::prediction_line(split, 0, task),
            "{\"split\":\"dev\",\"row\":1,\"gold\":3,\"predicted\":3.5,\"loss\":0.25}\n");

  task.labels = {"valence", "arousal"};
  predictions.logits.resize(1, 2);
  predictions.logits << 3.5F, 0.1F;
  predictions.targets = {3, -1};
  EXPECT_EQ(detail::prediction_line(split, 0, task),
            "{\"split\":\"dev\",\"row\":1,\"gold\":{\"valence\":3,\"arousal\":-1},"
            "\"predicted\":{\"valence\":3.5,\"arousal\":0.1},\"loss\":0.25}\n");

  predictions.logits(0, 1) = std::numeric_limits<float>::infinity();
  predictions.losses = {std::numeric_limits<double>::infinity()};
  EXPECT_EQ(detail::prediction_line(split, 0, task),
            "{\"split\":\"dev\",\"row\":1,\"gold\":{\"valence\":3,\"arousal\":-1},"
            "\"predicted\":null,\"loss\":null}\n");
}

TEST(Predictions, RefusesOtherFiles) {
  EXPECT_THROW((void)read_predictions("{\"a\":1}", "dev", "p"), InputError);
  EXPECT_TRUE(read_predictions("", "dev", "p").empty());
}

}  // namespace
}  // namespace seqtrain::run
