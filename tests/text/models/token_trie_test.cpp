#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/models/token_trie.hpp>

namespace seqtrain::text {
namespace {

using Cuts = std::vector<std::string>;

Cuts split(std::initializer_list<std::string_view> tokens, std::string_view text) {
  TokenTrie trie;
  for (const auto token : tokens) trie.add(token);
  Cuts pieces;
  trie.split(text, [&](std::string_view piece) { pieces.emplace_back(piece); });
  return pieces;
}

TEST(TokenTrie, CutsAroundTokens) {
  EXPECT_EQ(split({"[CLS]", "extra_id_1", "extra_id_100"}, "[CLS] This is a extra_id_100"),
            (Cuts{"[CLS]", " This is a ", "extra_id_100"}));
  EXPECT_EQ(split({"é", "日本"}, "aé日本日"), (Cuts{"a", "é", "日本", "日"}));
  EXPECT_EQ(split({"A", ""}, "AA"), (Cuts{"A", "A"}));
  EXPECT_EQ(split({"A"}, ""), Cuts{});
  EXPECT_EQ(split({}, "abc"), Cuts{"abc"});
}

TEST(TokenTrie, PrefersWhatBeganEarlierAndThenTheLonger) {
  EXPECT_EQ(split({"blowing", "lower"}, "blower"), (Cuts{"b", "lower"}));
  EXPECT_EQ(split({"ABCD", "BC"}, "ABCDABCE"), (Cuts{"ABCD", "A", "BC", "E"}));
  EXPECT_EQ(split({"AB", "ABC", "C"}, "ABCAB"), (Cuts{"ABC", "AB"}));
}

}  // namespace
}  // namespace seqtrain::text
