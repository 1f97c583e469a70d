#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/report/table.hpp>

#include "support/run_events.hpp"

namespace seqtrain::report {
namespace {

const std::vector<std::string> names{"no", "maybe über"};

TEST(ScoresTable, HasALinePerLabel) {
  EXPECT_EQ(align(scores_rows(tests::some_report(), names)),
            "            precision  recall      f1  support\n"
            "no             0.7500  0.7500  0.7500        4\n"
            "maybe über     0.7500  0.7500  0.7500        4\n"
            "macro avg      0.7500  0.7500  0.7500        8\n"
            "accuracy                       0.7500        8\n");
}

TEST(ConfusionTable, HasTrueLabelsInRows) {
  EXPECT_EQ(align(confusion_rows(tests::some_report(), names)),
            "true \\ predicted  no  maybe über\n"
            "no                 3           1\n"
            "maybe über         1           3\n");
}

TEST(ConfusionTable, NamesWhatHasNoName) {
  EXPECT_EQ(align(confusion_rows(tests::some_report(), {})),
            "true \\ predicted  LABEL_0  LABEL_1\n"
            "LABEL_0                 3        1\n"
            "LABEL_1                 1        3\n");
}

TEST(ConfusionTable, StaysATableIfALabelHasALineBreak) {
  const std::vector<std::string> broken{"no\nway", "x\ty"};
  EXPECT_EQ(align(confusion_rows(tests::some_report(), broken)),
            "true \\ predicted  no\\nway  x\\ty\n"
            "no\\nway                 3     1\n"
            "x\\ty                    1     3\n");
}

TEST(Tables, OfRegressionAreFigures) {
  EXPECT_EQ(tables(tests::some_report_of_regression(), {}),
            "\n"
            "mean_squared_error  0.5000\n"
            "pearson             1.0000\n"
            "spearman            1.0000\n"
            "examples                 4\n");
}

TEST(Tables, OfSeveralTargetsHaveARowForEach) {
  metrics::Evaluation evaluation{ProblemType::regression, {"joy", "fear"}};
  metrics::Logits logits(2, 2);
  logits << 2, 1, 5, 3;
  evaluation.add(logits, {}, std::vector<float>{2, 2, 4, 4});
  EXPECT_EQ(tables(evaluation.report(), std::vector<std::string>{"joy", "fear"}),
            "\n"
            "mean_squared_error  0.7500\n"
            "pearson             1.0000\n"
            "spearman            1.0000\n"
            "examples                 2\n"
            "\n"
            "target  mean_squared_error  pearson  spearman  mean_absolute_error  r_squared\n"
            "joy                 0.5000   1.0000    1.0000               0.5000     0.5000\n"
            "fear                1.0000   1.0000    1.0000               1.0000     0.0000\n");
}

TEST(Tables, OfSeveralLabelsHaveNoConfusion) {
  EXPECT_EQ(tables(tests::some_report_of_several_labels(), names),
            "\n"
            "            precision  recall      f1  support\n"
            "no             0.5000  1.0000  0.6667        1\n"
            "maybe über     1.0000  1.0000  1.0000        1\n"
            "micro avg      0.6667  1.0000  0.8000        2\n"
            "macro avg      0.7500  1.0000  0.8333        2\n"
            "all right                      0.5000        2\n");
}

/// Returns the figures of labels of which label i has i examples, all right, but for the first 20,
/// whose examples are answered with the next label.
metrics::ClassificationReport many_labels(Eigen::Index count) {
  metrics::Confusion confusion = metrics::Confusion::Zero(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    confusion(i, i < 20 && i + 1 < count ? i + 1 : i) = i;
  }
  return metrics::make_report(confusion, 1);
}

TEST(ShownLabels, AreTheMostFrequentAndTheWorst) {
  const auto shown_of = [](Eigen::Index count, std::size_t most) {
    return shown_labels(many_labels(count).labels, most);
  };
  EXPECT_EQ(shown_of(4, 4), (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(shown_of(40, 6), (std::vector<std::size_t>{39, 38, 37, 19, 18, 17}));
  const auto all_but_one = shown_of(40, 39);
  EXPECT_EQ(std::ranges::count(all_but_one, 0U), 0) << "label 0 has no example";
}

TEST(Tables, OfManyLabelsAreShort) {
  const std::string text = tables(many_labels(134), {});
  EXPECT_LT(text.size(), 6000U);
  EXPECT_NE(text.find("The table has the 25 labels with the most examples and the 25 with the "
                      "lowest f1 of the others; metrics.json has all 134\n"),
            std::string::npos);
  EXPECT_NE(text.find("\ntrue      predicted  examples\n"
                      "LABEL_19   LABEL_20        19\n"
                      "LABEL_18   LABEL_19        18\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("true \\ predicted"), std::string::npos);
  EXPECT_NE(text.find("macro avg"), std::string::npos);
}

TEST(MarkdownCell, EscapesMarkup) {
  EXPECT_EQ(markdown_cell("a|b"), "a\\|b");
  EXPECT_EQ(markdown_cell("__init__ *x* `y` [z] \\"), R"(\_\_init\_\_ \*x\* \`y\` \[z\] \\)");
  EXPECT_EQ(markdown_cell("<b>&"), "&lt;b>&amp;");
  EXPECT_EQ(markdown_cell(std::string{"a\nb\r\tc\0d", 8}), R"(a\\nb\\r\\tc\\u0000d)");
  EXPECT_EQ(markdown_cell("größe"), "größe");
}

TEST(MarkdownTable, HasAHeadAndRows) {
  EXPECT_EQ(markdown_table({{"", "f1", "support"}, {"no|thing", "0.5", "3"}, {"all"}}),
            "|  | f1 | support |\n"
            "|---|---|---|\n"
            "| no\\|thing | 0.5 | 3 |\n"
            "| all |\n");
  EXPECT_EQ(markdown_table({}), "");
}

}  // namespace
}  // namespace seqtrain::report
