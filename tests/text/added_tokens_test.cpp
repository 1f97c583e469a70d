#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/added_tokens.hpp>

namespace seqtrain::text {
namespace {

/// Returns the text of each segment of `text`, followed by `=id` for an added token.
std::vector<std::string> split(std::vector<AddedToken> tokens, std::string_view text) {
  std::vector<std::string> segments;
  const AddedTokens added{std::move(tokens)};
  EXPECT_TRUE(added.split(text, [&](const Segment& segment) {
    segments.emplace_back(segment.text);
    if (segment.id) segments.back() += "=" + std::to_string(*segment.id);
    return true;
  }));
  return segments;
}

using Segments = std::vector<std::string>;

TEST(AddedTokens, WithoutTokensTextStaysWhole) {
  EXPECT_EQ(split({}, "a <s> b"), (Segments{"a <s> b"}));
  EXPECT_EQ(split({}, ""), Segments{});
  EXPECT_EQ(split({{.content = ""}}, "ab"), (Segments{"ab"}));
}

TEST(AddedTokens, TheLongestAtTheFirstPlaceWins) {
  const std::vector<AddedToken> tokens{
      {.content = "<s>", .id = 1}, {.content = "<s>!", .id = 2}, {.content = "s>", .id = 3}};
  EXPECT_EQ(split(tokens, "a<s>!<s>s>b<s"), (Segments{"a", "<s>!=2", "<s>=1", "s>=3", "b<s"}));
}

TEST(AddedTokens, StripWhitespaceOnTheSidesTheySay) {
  const std::vector<AddedToken> tokens{{.content = "<l>", .id = 1, .lstrip = true},
                                       {.content = "<r>", .id = 2, .rstrip = true}};
  EXPECT_EQ(split(tokens, "a \t\u3000<l> b"), (Segments{"a", " \t\u3000<l>=1", " b"}));
  EXPECT_EQ(split(tokens, "a <r> \n b"), (Segments{"a ", "<r> \n =2", "b"}));
  EXPECT_EQ(split(tokens, "<r>  <l>"), (Segments{"<r>  =2", "<l>=1"}));
}

TEST(AddedTokens, SingleWordsStandAlone) {
  const std::vector<AddedToken> tokens{{.content = "cat", .id = 1, .single_word = true}};
  EXPECT_EQ(split(tokens, "cat, cat"), (Segments{"cat=1", ", ", "cat=1"}));
  EXPECT_EQ(split(tokens, "cats bobcat \u00e9cat cat\u0301 _cat cat9"),
            (Segments{"cats bobcat \u00e9cat cat\u0301 _cat cat9"}));
}

TEST(AddedTokens, AreFoundInEveryPlace) {
  const AddedTokens tokens{
      {{.content = "<s>", .id = 1}, {.content = "[A]", .id = 2}, {.content = "[B]", .id = 3}}};
  for (std::size_t size = 0; size < 140; ++size) {
    for (std::size_t at = 0; at <= size; ++at) {
      for (const std::string_view token : {"<s>", "[A]", "[B]", "<t>", "[", ""}) {
        const std::string text =
            std::string(at, '<') + std::string{token} + std::string(size - at, 's');
        std::size_t found = 0;
        tokens.split(text, [&](const Segment& segment) {
          if (!segment.id) return true;
          ++found;
          EXPECT_EQ(segment.text, token) << text;
          EXPECT_EQ(segment.text.data(), text.data() + at) << text;
          return true;
        });
        const bool is_token = token.size() == 3 && token != "<t>";
        ASSERT_EQ(found, is_token ? 1u : 0u) << text;
      }
    }
  }
}

TEST(AddedTokens, StopsWhereItIsTold) {
  const AddedTokens added{{{.content = "|", .id = 1}}};
  int calls = 0;
  EXPECT_FALSE(added.split("a|b|c", [&](const Segment&) { return ++calls < 2; }));
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace seqtrain::text
