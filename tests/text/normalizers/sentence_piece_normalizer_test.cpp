#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include <seqtrain/text/normalizers/sentence_piece_normalizer.hpp>

namespace seqtrain::text {
namespace {

std::string pieces_form(SentencePieceRules rules, std::string_view text) {
  using Type = SentencePiece::Type;
  const SentencePieces pieces{
      {{.text = "<unk>", .type = Type::unknown}, {.text = "[ B]", .type = Type::user_defined}},
      false};
  std::string out = "before ";
  SentencePieceNormalizer{std::move(rules), pieces}.normalize(text, pieces, out);
  return out.substr(7);
}

TEST(SentencePieceNormalizer, MakesSpacesVisibleAndSingle) {
  EXPECT_EQ(pieces_form({}, "  a  b "), "\u2581a\u2581b");
  EXPECT_EQ(pieces_form({.remove_extra_whitespaces = false}, " a  b "),
            "\u2581\u2581a\u2581\u2581b\u2581");
  EXPECT_EQ(pieces_form({.escape_whitespaces = false}, "a b"), " a b");
  EXPECT_EQ(pieces_form({.add_dummy_prefix = false}, "a\u2581 "), "a");
  EXPECT_EQ(pieces_form({.whitespace_is_suffix = true}, "a b"), "a\u2581b\u2581");
  EXPECT_EQ(pieces_form({}, "   "), "");
}

TEST(SentencePieceNormalizer, LeavesSymbolsAlone) {
  EXPECT_EQ(pieces_form({}, "a[ B]"), "\u2581a[\u2581B]");
  EXPECT_EQ(pieces_form({}, "[  B]"), "\u2581[\u2581B]");
}

}  // namespace
}  // namespace seqtrain::text
