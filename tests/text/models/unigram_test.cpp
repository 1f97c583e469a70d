#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/models/unigram.hpp>

namespace seqtrain::text {
namespace {

using Pieces = std::vector<Unigram::Piece>;

std::vector<Id> encode_pieces(const Pieces& pieces, std::string_view word,
                              UnigramOptions options = {}) {
  Unigram::Scratch steps;
  std::vector<Id> ids;
  Unigram{pieces, options}.encode_word(word, steps, ids);
  return ids;
}

const Pieces small_pieces{{"<unk>", 0}, {"a", -2}, {"b", -2}, {"ab", -3}, {"ba", -4}, {"aa", -4}};

TEST(Unigram, TakesTheBestSum) {
  EXPECT_EQ(encode_pieces(small_pieces, "abab"), (std::vector<Id>{3, 3}));
  EXPECT_EQ(encode_pieces(small_pieces, "aab"), (std::vector<Id>{1, 3}));
  EXPECT_EQ(encode_pieces(small_pieces, ""), (std::vector<Id>{}));
}

TEST(Unigram, TakesTheFirstOfEqualWays) {
  EXPECT_EQ(encode_pieces(small_pieces, "aa"),
            (std::vector<Id>{5}));  // -4 by -2 - 2, which is found first
}

TEST(Unigram, FusesWhatIsUnknown) {
  EXPECT_EQ(encode_pieces(small_pieces, "axyb"), (std::vector<Id>{1, 0, 2}));
  EXPECT_EQ(encode_pieces(small_pieces, "\u4e2d\u6587"), (std::vector<Id>{0}));
}

TEST(Unigram, TheLastOfEqualPiecesCounts) {
  EXPECT_EQ(encode_pieces({{"<unk>", 0}, {"a", -1}, {"a", -9}}, "a"), (std::vector<Id>{2}));
}

TEST(Unigram, FallsBackToBytesWhereAllAreThere) {
  Pieces bytes{{"<unk>", 0}, {"<0xC3>", -1}, {"<0xA9>", -1}, {"a", -1}};
  const UnigramOptions options{.byte_fallback = true};
  EXPECT_EQ(encode_pieces(bytes, "a\u00e9", options), (std::vector<Id>{3, 1, 2}));
  EXPECT_EQ(encode_pieces(bytes, "\u00e9z", options), (std::vector<Id>{0}));
}

TEST(Unigram, RefusesWhatItCannotUse) {
  EXPECT_THROW(encode_pieces({}, "a"), InputError);
  EXPECT_THROW(encode_pieces(small_pieces, "a", {.unknown = 6}), InputError);
  EXPECT_THROW(encode_pieces({{"<unk>", std::nan("")}}, "a"), InputError);
  EXPECT_THROW(encode_pieces({{"<unk>", -std::numeric_limits<double>::infinity()}}, "a"),
               InputError);
}

TEST(DoubleArray, FindsEachOfManyStrings) {
  std::vector<std::string> words;
  for (int i = 0; i < 3000; ++i) words.push_back(std::to_string(i * 7919 % 100003));
  std::vector<std::pair<std::string_view, Id>> strings;
  for (const auto& word : words) strings.emplace_back(word, static_cast<Id>(strings.size()));
  const DoubleArray trie{strings};
  for (const auto& [word, id] : strings) EXPECT_EQ(trie.find(word), id);
  EXPECT_EQ(trie.find("x"), DoubleArray::no_id);
  EXPECT_EQ(trie.find(""), DoubleArray::no_id);
}

TEST(DoubleArray, TakesLongStrings) {
  const std::string longest(200'000, 'a');
  EXPECT_EQ((DoubleArray{{{longest, 5}}}.find(longest)), 5);
}

}  // namespace
}  // namespace seqtrain::text
