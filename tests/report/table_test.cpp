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

TEST(OneAnswerWarning, TellsOfAModelThatAnswersOneLabel) {
  metrics::Confusion confusion(2, 2);
  confusion << 0, 6, 0, 2;
  EXPECT_EQ(one_answer_warning(metrics::make_report(confusion, 1), names),
            "the model answers all 8 dev examples with 'maybe über', so it has learned nothing; "
            "try a lower --learning-rate (2e-5 to 5e-5 is usual), or more epochs");
  confusion << 1, 6, 0, 2;
  EXPECT_EQ(one_answer_warning(metrics::make_report(confusion, 1), names), "");
  confusion << 0, 0, 0, 2;  // there is no other label to answer
  EXPECT_EQ(one_answer_warning(metrics::make_report(confusion, 1), names), "");
  EXPECT_EQ(one_answer_warning(tests::some_report_of_several_labels(), names), "");
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
