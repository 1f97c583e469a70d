#include <string>

#include <gtest/gtest.h>

#include <seqtrain/report/markdown.hpp>

namespace seqtrain::report {
namespace {

TEST(MarkdownCell, EscapesMarkup) {
  EXPECT_EQ(markdown_cell("a|b"), "a\\|b");
  EXPECT_EQ(markdown_cell("__init__ *x* `y` [z] \\"), R"(\_\_init\_\_ \*x\* \`y\` \[z\] \\)");
  EXPECT_EQ(markdown_cell("<b>&"), "&lt;b>&amp;");
  EXPECT_EQ(markdown_cell(std::string{"a\nb\r\tc\0d", 8}), "a b  c d");
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
