#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/page/compared_runs.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain::page::compare {
namespace {

std::string line(int row, const std::string& gold, const std::string& predicted, double loss) {
  return "{\"split\":\"dev\",\"row\":" + std::to_string(row) + ",\"gold\":\"" + gold +
         "\",\"predicted\":\"" + predicted +
         "\",\"scores\":[1,0],\"loss\":" + std::to_string(loss) + "}\n";
}

RunFiles made(const std::string& name, const std::string& seed, const std::string& predictions) {
  return {.name = name,
          .metrics =
              "{\"dev\":{\"problem_type\":\"single_label_classification\",\"accuracy\":0.5,"
              "\"loss\":1,\"examples\":3,\"macro_average\":{\"f1\":0.25},"
              "\"metrics\":{\"own\":2}},\"flags\":{\"epochs\":\"2\",\"seed\":\"" +
              seed + "\"}}",
          .predictions = predictions,
          .log =
              "{\"event\":\"step\",\"step\":1,\"loss\":0.5}\n"
              "{\"event\":\"step\",\"step\":2,\"loss\":0.4}\n"};
}

TEST(Compare, FindsFlagsFiguresAndExamplesThatDiffer) {
  const std::vector<ComparedRun> runs{
      read_run(
          made("one", "1", line(2, "a", "a", 0.1) + line(1, "b", "a", 2) + line(3, "a", "a", 1))),
      read_run(
          made("two", "7", line(1, "b", "b", 0.2) + line(2, "a", "b", 9) + line(3, "a", "b", 2)))};
  EXPECT_EQ(flag_rows(runs), (report::Rows{{"flag", "one", "two"}, {"seed", "1", "7"}}));
  const auto figures = figure_rows(runs);
  EXPECT_EQ(figures[1][0], "accuracy");
  EXPECT_EQ(figures[1][1], "0.5 [0.0000, 1.0000]");
  EXPECT_EQ(figures.back(), (std::vector<std::string>{"own", "2", "2"}));
  const auto tests = pair_tests(runs);
  ASSERT_EQ(tests.size(), 1U);
  EXPECT_TRUE(tests[0].same_dev);
  EXPECT_EQ(tests[0].test.first_only, 2);
  EXPECT_EQ(tests[0].test.second_only, 1);
  ASSERT_EQ(tests[0].disagreements.size(), 3U);
  EXPECT_EQ(tests[0].disagreements[0].row, 2) << "the greatest difference of loss";
  EXPECT_EQ(tests[0].disagreements[0].second, "\"b\"");
  EXPECT_NE(comparison_text(runs).find("one, two  "), std::string::npos);
  const std::string page = comparison_page(runs);
  EXPECT_NE(page.find("McNemar"), std::string::npos);
  EXPECT_NE(page.find("id=\"loss\""), std::string::npos);
}

/// Returns two runs with these flags that disagree on the records 2 and 3 of their dev file.
std::vector<ComparedRun> disagreeing(const std::string& flags, const std::string& of_second = {}) {
  const auto run = [](const std::string& name, const std::string& more, const std::string& all) {
    return read_run({.name = name,
                     .metrics = "{\"dev\":{\"loss\":1,\"accuracy\":0.5},\"flags\":{" + more + "}}",
                     .predictions = all});
  };
  return {run("one", flags, line(1, "a", "a", 1) + line(2, "a", "a", 1) + line(3, "b", "b", 1)),
          run("two", of_second.empty() ? flags : of_second,
              line(1, "a", "a", 1) + line(2, "a", "b", 2) + line(3, "b", "a", 3))};
}

TEST(Compare, MarksLossesOfDifferentKinds) {
  auto runs = disagreeing(R"("loss":"default","class-weights":"")");
  EXPECT_EQ(different_losses(runs), "");
  EXPECT_EQ(figure_rows(runs)[1][0], "loss");
  runs = disagreeing(R"("loss":"default","class-weights":"")",
                     R"("loss":"focal","class-weights":"auto")");
  const std::string note =
      "The losses are of different kinds and cannot be compared: the runs differ in --loss, "
      "--class-weights";
  EXPECT_EQ(different_losses(runs), note);
  EXPECT_EQ(figure_rows(runs)[1][0], "loss (of different kinds)");
  EXPECT_NE(comparison_text(runs).find(note), std::string::npos);
  EXPECT_NE(comparison_page(runs).find(note), std::string::npos);
}

TEST(Compare, ShowsTheTextsOfDisagreements) {
  const tests::TemporaryDirectory directory;
  const std::string file = (directory / "dev.csv").string();
  tests::write_file(file, "text,label\nfirst,a\nsecond,a\nthird,b\n");
  const std::string flags = R"("dev-file":")" + file + R"(","report-texts":"true")";
  auto runs = disagreeing(flags);
  add_texts(runs);
  const report::Rows rows = disagreement_rows(runs, pair_tests(runs)[0], 5, 100);
  EXPECT_EQ(rows[0].back(), "text");
  EXPECT_EQ(rows[1].back(), "third");
  EXPECT_EQ(rows[2].back(), "second");
  EXPECT_NE(comparison_text(runs).find("second"), std::string::npos);
  EXPECT_NE(comparison_page(runs).find("second"), std::string::npos);
}

TEST(Compare, ShowsTheTextsOfHeldOutExamples) {
  const tests::TemporaryDirectory directory;
  const std::string file = (directory / "train.csv").string();
  tests::write_file(file, "c,d,e\nfirst,a,1\nsecond,a,1\nthird,b,1\n");
  auto runs =
      disagreeing(R"("train-file":")" + file +
                  R"(","dev-file":"elsewhere.csv","dev-fraction":"0.5","columns":"text,-,a\\, b")");
  add_texts(runs);
  EXPECT_EQ(runs[0].texts, (std::map<std::int64_t, std::string>{{2, "first"}, {3, "second"}}));
}

TEST(Compare, ShowsNoTextsIfTheyAreHiddenOrGone) {
  const tests::TemporaryDirectory directory;
  const std::string file = (directory / "dev.csv").string();
  const std::string flags = R"("dev-file":")" + file + R"(","report-texts":)";
  auto runs = disagreeing(flags + R"("true")");
  add_texts(runs);
  EXPECT_TRUE(runs[0].texts.empty());
  tests::write_file(file, "text,label\nfirst,a\nsecond,a\nthird,b\n");
  runs = disagreeing(flags + R"("false")");
  add_texts(runs);
  EXPECT_TRUE(runs[0].texts.empty());
  EXPECT_EQ(disagreement_rows(runs, pair_tests(runs)[0], 5, 100)[0].size(), 4U);
  tests::write_file(file, "");
  runs = disagreeing(flags + R"("true")");
  add_texts(runs);
  EXPECT_TRUE(runs[0].texts.empty());
}

TEST(Compare, SaysThatTheTestDoesNotApplyToRegression) {
  const std::string numbers =
      "{\"split\":\"dev\",\"row\":1,\"gold\":2.5,\"predicted\":2,\"loss\":0.25}\n";
  const std::vector<ComparedRun> runs{read_run(made("one", "1", numbers)),
                                      read_run(made("two", "1", numbers))};
  EXPECT_NE(comparison_text(runs).find("one, two: regression, to which the test does not apply"),
            std::string::npos)
      << comparison_text(runs);
}

TEST(Compare, SaysThatDevSetsDiffer) {
  const std::vector<ComparedRun> runs{read_run(made("one", "1", line(1, "a", "a", 1))),
                                      read_run(made("two", "1", line(1, "b", "b", 1))),
                                      read_run(made("three", "1", ""))};
  EXPECT_EQ(flag_rows(runs).size(), 1U);
  const auto tests = pair_tests(runs);
  ASSERT_EQ(tests.size(), 3U);
  for (const auto& each : tests) EXPECT_FALSE(each.same_dev);
  EXPECT_NE(comparison_text(runs).find("other dev examples, or no predictions"), std::string::npos);
  EXPECT_FALSE(runs[2].accuracy);
}

TEST(Compare, RefusesFilesOfOthers) {
  EXPECT_THROW((void)read_run({.name = "x", .metrics = "{"}), seqtrain::InputError);
  EXPECT_THROW((void)read_run(made("x", "1", "{\"no\":1}\n")), seqtrain::InputError);
}

}  // namespace
}  // namespace seqtrain::page::compare
