#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/lists.hpp>

namespace seqtrain {
namespace {

using Parts = std::vector<std::string_view>;

TEST(Split, ReturnsThePartsBetweenSeparators) {
  EXPECT_EQ(split("a/bc/d", '/'), (Parts{"a", "bc", "d"}));
  EXPECT_EQ(split("abc", '/'), Parts{"abc"});
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("", ','), Parts{""});
  EXPECT_EQ(split(",a,,", ','), (Parts{"", "a", "", ""}));
}

TEST(SplitAtCommas, ReadsWhatIsJoined) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(split_at_commas("a,,b c"), (Texts{"a", "", "b c"}));
  EXPECT_TRUE(split_at_commas("").empty());
  for (const auto& hard : {Texts{"a, b", "c\\", "\\,", "\\d"}, Texts{"", "x"}, Texts{"", ""}}) {
    EXPECT_EQ(split_at_commas(joined_at_commas(hard)), hard);
  }
  EXPECT_EQ(joined_at_commas({"a, b", "c"}), "a\\, b,c");
  EXPECT_EQ(split_at_commas("a\\b,c\\"), (Texts{"a\\b", "c\\"}));
}

TEST(Joined, PutsCommasBetweenTexts) {
  EXPECT_EQ(joined(std::vector<std::string>{}), "");
  EXPECT_EQ(joined(std::vector<std::string>{"one"}), "one");
  EXPECT_EQ(joined(std::vector<std::string>{"one", "two", "three"}), "one, two, three");
}

TEST(Joined, PutsAnotherWordBeforeTheLastText) {
  EXPECT_EQ(joined(std::vector<std::string>{"one"}, " or "), "one");
  EXPECT_EQ(joined(std::vector<std::string>{"one", "two"}, " or "), "one or two");
  EXPECT_EQ(joined(std::vector<std::string>{"one", "two", "three"}, " or "), "one, two or three");
}

TEST(Joined, TakesAnyTexts) {
  EXPECT_EQ(joined(std::array<std::string_view, 2>{"b", "a"}), "b, a");
  EXPECT_EQ(joined(std::set<std::string>{"b", "a"}), "a, b");
  EXPECT_EQ(joined(std::vector<const char*>{"", "a", ""}), ", a, ");
}

}  // namespace
}  // namespace seqtrain
