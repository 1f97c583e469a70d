#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/models/bpe.hpp>

namespace seqtrain::text {
namespace {

const std::vector<Bpe::Entry> letters{{"a", 0},  {"b", 1},   {"c", 2},    {"ab", 3},
                                      {"aa", 4}, {"abc", 5}, {"aaab", 6}, {"ca", 9}};
const std::vector<Bpe::Pair> bpe_merges{
    {"a", "b"}, {"a", "a"}, {"c", "a"}, {"ab", "c"}, {"aa", "ab"}};

std::vector<Id> encode(const Bpe& bpe, std::string_view word) {
  std::vector<Id> ids;
  bpe.encode_word(word, ids);
  return ids;
}

/// Encodes by the definition: merge the leftmost pair of the lowest rank until no pair can be
/// merged.
std::vector<Id> by_definition(std::string_view word) {
  std::vector<std::string> symbols;
  for (const char c : word) symbols.emplace_back(1, c);
  for (bool merged = true; merged;) {
    merged = false;
    for (std::size_t rank = 0; rank < bpe_merges.size() && !merged; ++rank) {
      for (std::size_t i = 0; i + 1 < symbols.size() && !merged; ++i) {
        if (symbols[i] != bpe_merges[rank].first || symbols[i + 1] != bpe_merges[rank].second)
          continue;
        symbols[i] += symbols[i + 1];
        symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        merged = true;
      }
    }
  }
  const std::map<std::string_view, Id> ids{letters.begin(), letters.end()};
  std::vector<Id> result;
  for (const auto& symbol : symbols) result.push_back(ids.at(symbol));
  return result;
}

TEST(Bpe, MergesByRankAtEveryLength) {
  const Bpe bpe{letters, bpe_merges};
  std::mt19937 random{3};
  for (std::size_t length = 0; length < 120; ++length) {
    for (int round = 0; round < 20; ++round) {
      std::string word(length, 'a');
      for (char& c : word) c = "aaabc"[random() % 5];
      ASSERT_EQ(encode(bpe, word), by_definition(word)) << word;
    }
  }
}

TEST(Bpe, AVeryLongWordIsMergedAsItsPartsAre) {
  std::vector<Bpe::Entry> with_a_wall = letters;
  with_a_wall.emplace_back("d", 8);  // merges with nothing
  const Bpe bpe{with_a_wall, bpe_merges};
  std::mt19937 random{5};
  std::string word;
  std::vector<Id> expected;
  while (word.size() < 20'000) {
    std::string part(random() % 40, 'a');
    for (char& c : part) c = "aaabc"[random() % 5];
    bpe.encode_word(part, expected);
    expected.push_back(8);
    word += part + "d";
  }
  EXPECT_EQ(encode(bpe, word), expected);
}

TEST(Bpe, NeverUsesATokenThatNoMergesReach) {
  const std::vector<Bpe::Entry> vocabulary{{"a", 0}, {"b", 1}, {"ab", 2}, {"aab", 3}};
  const std::vector<Bpe::Pair> only{{"a", "b"}};
  EXPECT_EQ(encode(Bpe{vocabulary, only}, "aab"), (std::vector<Id>{0, 2}));
  EXPECT_EQ(encode(Bpe{vocabulary, only, {.ignore_merges = true}}, "aab"), (std::vector<Id>{3}));
}

TEST(Bpe, UnknownBytesVanishOrBecomeTheUnknownToken) {
  const std::vector<Bpe::Entry> vocabulary{{"a", 0}, {"<unk>", 7}};
  EXPECT_EQ(encode(Bpe{vocabulary, {}}, "axya"), (std::vector<Id>{0, 0}));
  EXPECT_EQ(encode(Bpe{vocabulary, {}, {.unknown_token = "<unk>"}}, "axya"),
            (std::vector<Id>{0, 7, 7, 0}));
  EXPECT_EQ(encode(Bpe{vocabulary, {}, {.unknown_token = "<unk>", .fuse_unknown = true}}, "axyax"),
            (std::vector<Id>{0, 7, 0, 7}));
}

TEST(Bpe, RefusesMergesOfTokensThatAreNotThere) {
  const std::vector<Bpe::Pair> missing{{"a", "z"}};
  const std::vector<Bpe::Pair> missing_result{{"b", "b"}};
  EXPECT_THROW((Bpe{letters, missing}), InputError);
  EXPECT_THROW((Bpe{letters, missing_result}), InputError);
  EXPECT_THROW((Bpe{letters, bpe_merges, {.unknown_token = "<unk>"}}), InputError);
}

TEST(Bpe, RefusesATokenOfOver65535Bytes) {
  const std::string half(40'000, 'a');
  const std::string all = half + half;
  const std::vector<Bpe::Entry> tokens{{half, 0}, {all, 1}};
  const std::vector<Bpe::Pair> merge{{half, half}};
  EXPECT_THROW((Bpe{tokens, merge}), InputError);
}

TEST(Bpe, AMillionBytesInOneWord) {
  const Bpe bpe{letters, bpe_merges};
  EXPECT_EQ(encode(bpe, std::string(1'000'000, 'a')).size(), 500'000u);
  EXPECT_TRUE(encode(bpe, std::string(1'000'000, 'x')).empty());
}

}  // namespace
}  // namespace seqtrain::text
