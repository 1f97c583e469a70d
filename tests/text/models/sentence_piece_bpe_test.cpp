#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/sentence_piece_pipeline.hpp>

namespace seqtrain::text {
namespace {

using PieceType = SentencePiece::Type;

std::vector<Id> merged_ids(std::vector<SentencePiece> pieces, std::string_view text) {
  pieces.insert(pieces.begin(), {.text = "<unk>", .type = PieceType::unknown});
  const SentencePiecePipeline pipeline{
      SentencePieces{std::move(pieces), false}, {}, SentencePieceAlgorithm::bpe};
  SentencePiecePipeline::Scratch scratch;
  std::vector<Id> ids;
  pipeline.encode_normalized(text, 1, scratch, ids);
  return ids;
}

TEST(SentencePieceBpe, MergesTheGreatestScoreFirst) {
  const std::vector<SentencePiece> pieces{{"a", 0},   {"b", 0},   {"c", 0},
                                          {"ab", -2}, {"bc", -1}, {"abc", -3}};
  EXPECT_EQ(merged_ids(pieces, "abc"), (std::vector<Id>{6})) << "by way of bc";
  EXPECT_EQ(merged_ids(pieces, "abab"), (std::vector<Id>{4, 4}));
  EXPECT_EQ(merged_ids(pieces, "abx?ab"), (std::vector<Id>{4, 0, 4}));
}

TEST(SentencePieceBpe, TakesUnusedPiecesApart) {
  const std::vector<SentencePiece> pieces{{"a", 0},
                                          {"b", 0},
                                          {"ab", -1, PieceType::unused},
                                          {"abab", -2, PieceType::unused},
                                          {"ababab", -3}};
  EXPECT_EQ(merged_ids(pieces, "abab"), (std::vector<Id>{1, 2, 1, 2}));
  EXPECT_EQ(merged_ids(pieces, "ababab"), (std::vector<Id>{5}));
}

TEST(SentencePieceBpe, MergesNoSymbols) {
  const std::vector<SentencePiece> pieces{
      {"a", 0}, {"b", 0}, {"ab", -1}, {"b!", 0, PieceType::user_defined}};
  EXPECT_EQ(merged_ids(pieces, "ab!ab"), (std::vector<Id>{1, 4, 3}));
}

TEST(SentencePieceBpe, TakesALongTextInLinearTime) {
  const std::vector<SentencePiece> pieces{{"a", 0}, {"aa", -1}, {"aaaa", -2}};
  EXPECT_EQ(merged_ids(pieces, std::string(1 << 18, 'a')).size(), std::size_t{1} << 16);
}

}  // namespace
}  // namespace seqtrain::text
