#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/page/compared_runs.hpp>

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
          .log = "{\"event\":\"step\",\"step\":1,\"loss\":0.5}\n"};
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
