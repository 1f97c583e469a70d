#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/models/wordpiece.hpp>
#include <seqtrain/text/pre_tokenizers/bert_splitter.hpp>

#include "support/bert_golden.hpp"
#include "support/plain_wordpiece.hpp"

namespace seqtrain::text {
namespace {

const std::vector<WordPiece::Entry> small{{"[UNK]", 0},  {"un", 1},   {"aff", 2}, {"##aff", 3},
                                          {"##able", 4}, {"una", 5},  {"##a", 6}, {"é", 7},
                                          {"##é", 8},    {"##ff", 9}, {"u", 10}};

using Ids = std::vector<Id>;

Ids encode(const WordPiece& model, std::string_view word) {
  Ids ids;
  model.encode_word(word, ids);
  return ids;
}

TEST(WordPiece, TakesTheLongestPieceFrontToBack) {
  const WordPiece model{small};
  EXPECT_EQ(encode(model, "unaffable"), (Ids{5, 9, 4}));
  EXPECT_EQ(encode(model, "aff"), (Ids{2}));
  EXPECT_EQ(encode(model, "uaff"), (Ids{10, 3}));
  EXPECT_EQ(encode(model, "éé"), (Ids{7, 8}));
  EXPECT_EQ(encode(model, ""), Ids{});
}

TEST(WordPiece, IsUnknownWholeWhereAnyPartIs) {
  const WordPiece model{small};
  EXPECT_EQ(encode(model, "unz"), (Ids{0}));
  EXPECT_EQ(encode(model, "zun"), (Ids{0}));
  EXPECT_EQ(encode(model, "unaf"), (Ids{0}));  // A shorter first piece is not tried.
}

TEST(WordPiece, CountsCharactersOfLongWords) {
  const WordPiece model{small, {.max_characters = 3}};
  EXPECT_EQ(encode(model, "ééé"), (Ids{7, 8, 8}));
  EXPECT_EQ(encode(model, "éééé"), (Ids{0}));
}

TEST(WordPiece, KnowsOtherMarks) {
  const std::vector<WordPiece::Entry> entries{{"<unk>", 4}, {"a", 1}, {"@b", 2}, {"b", 3}};
  const WordPiece model{entries, {.unknown_token = "<unk>", .continuing_prefix = "@"}};
  EXPECT_EQ(encode(model, "ab"), (Ids{1, 2}));
  EXPECT_EQ(encode(model, "@b"), (Ids{2}));  // A word may be spelled like a marked piece.
  EXPECT_EQ(encode(model, "x"), (Ids{4}));
  const WordPiece unmarked{entries, {.unknown_token = "<unk>", .continuing_prefix = ""}};
  EXPECT_EQ(encode(unmarked, "ab"), (Ids{1, 3}));
}

TEST(WordPiece, LetsTheLastOfTwoEqualTokensCount) {
  const std::vector<WordPiece::Entry> twice{{"[UNK]", 0}, {"a", 1}, {"a", 2}};
  EXPECT_EQ(encode(WordPiece{twice}, "a"), (Ids{2}));
}

TEST(WordPiece, NeedsAnUnknownToken) {
  const std::vector<WordPiece::Entry> none{{"a", 1}};
  EXPECT_THROW(WordPiece{none}, InputError);
}

TEST(WordPiece, CutsRandomWordsAsThePlainOne) {
  const tests::BertGolden golden;
  const WordPiece model{golden.vocabulary()};
  const tests::PlainWordPiece plain{golden.vocabulary()};
  std::mt19937 random{9};
  const std::u32string characters = U"eeedostungablfé한국ᅡᆫи";
  for (int round = 0; round < 5000; ++round) {
    std::string word;
    const std::size_t size = random() % (round % 50 == 0 ? 110 : 14);
    for (std::size_t i = 0; i < size; ++i) {
      append_utf8(word, characters[random() % (round % 3 == 0 ? characters.size() : 12)]);
    }
    ASSERT_EQ(encode(model, word), plain.encode(word)) << word;
  }
}

class WordPieceGolden : public testing::Test {
 protected:
  void encode(const BertNormalizer& normalizer, std::string_view text, std::vector<Id>& ids) const {
    std::string normal;
    normalizer.normalize(text, normal);
    BertSplitter{}.for_each_word(normal,
                                 [&](std::string_view word) { model_.encode_word(word, ids); });
  }

  tests::BertGolden golden_;
  WordPiece model_{golden_.vocabulary()};
};

TEST_F(WordPieceGolden, TextsHaveThePackagesIds) {
  int compared = 0;
  for (const auto& expected : golden_.cases()) {
    for (std::size_t i = 0; i < expected.ids.size(); ++i, ++compared) {
      std::vector<Id> ids;
      encode(expected.normalizer, golden_.texts()[i], ids);
      EXPECT_EQ(ids, expected.ids[i]) << golden_.texts()[i];
    }
  }
  EXPECT_GT(compared, 150);
}

TEST_F(WordPieceGolden, CodePointsHaveThePackagesIdsInEveryPlace) {
  int compared = 0;
  for (const auto& expected : golden_.cases()) {
    if (expected.sweep.empty()) continue;
    const auto sweep = tests::BertGolden::sweep([&](std::string_view text, std::vector<Id>& ids) {
      encode(expected.normalizer, text, ids);
    });
    EXPECT_EQ(sweep, expected.sweep) << "lowercase " << expected.normalizer.lowercase;
    ++compared;
  }
  EXPECT_EQ(compared, 2);
}

}  // namespace
}  // namespace seqtrain::text
