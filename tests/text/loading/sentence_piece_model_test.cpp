#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/text/loading/sentence_piece_model.hpp>

#include "support/corrupt.hpp"
#include "support/shared_data.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::text {
namespace {

std::string trained_model(const std::string& name) {
  return tests::read_file(tests::golden() / "sentence_pieces" / (name + ".model"));
}

std::vector<Id> ids_of(const SentencePiecePipeline& pipeline, std::string_view text) {
  SentencePiecePipeline::Scratch scratch;
  std::vector<Id> ids;
  pipeline.encode(text, 1, scratch, ids);
  return ids;
}

class TrainedPieces : public testing::TestWithParam<const char*> {};

TEST_P(TrainedPieces, HaveTheIdsOfTheReference) {
  const auto pipeline = parse_sentence_piece_model(trained_model(GetParam())).pipeline();
  const auto golden = json::Document::load(tests::golden() / "sentence_pieces/expected.json");
  const auto texts = golden.root().at("texts").items();
  const auto answers = golden.root().at(GetParam()).items();
  ASSERT_EQ(texts.size(), answers.size());
  ASSERT_GT(texts.size(), 150U);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::vector<Id> expected;
    for (const auto& id : answers[i].items()) expected.push_back(static_cast<Id>(id.integer()));
    EXPECT_EQ(ids_of(pipeline, texts[i].string()), expected) << texts[i].string();
  }
}

TEST_P(TrainedPieces, SurviveDamage) {
  const std::string model = trained_model(GetParam());
  tests::survive_flipped_bits(model, 200, [](const std::string& damaged) {
    const auto pipeline = parse_sentence_piece_model(damaged).pipeline();
    for (const Id id : ids_of(pipeline, "The river … œuf ﬁn 😀 <sym> ab  est")) {
      ASSERT_LT(static_cast<std::size_t>(id), pipeline.pieces().size());
    }
  });
  for (std::size_t size = 0; size < model.size(); size += 37) {
    try {
      static_cast<void>(parse_sentence_piece_model(model.substr(0, size)).pipeline());
    } catch (const InputError& error) {
      EXPECT_STRNE(error.what(), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TrainedPieces,
                         testing::Values("unigram_bytes", "unigram_suffix", "unigram_unused",
                                         "bpe_bytes", "bpe_unused"),
                         [](const auto& param) { return std::string{param.param}; });

/// Returns a field of a protocol buffer. Its content must be shorter than 128 bytes.
std::string field(char number, const std::string& bytes) {
  return std::string{static_cast<char>(8 * number + 2)} + static_cast<char>(bytes.size()) + bytes;
}
std::string flag(char number, char value) {
  return {static_cast<char>(8 * number), value};
}

TEST(SentencePieceModel, NamesWhatIsNotSupported) {
  const auto said = [](const std::string& bytes) {
    return tests::refusal([&] { static_cast<void>(parse_sentence_piece_model(bytes).pipeline()); });
  };
  const std::string unknown = field(1, field(1, "<unk>") + flag(3, 2));
  EXPECT_EQ(said(""), "has no unknown piece");
  EXPECT_EQ(said(unknown + unknown), "piece 1 \"<unk>\" is repeated");
  EXPECT_EQ(said(unknown + field(1, field(1, "x") + flag(3, 2))),
            "piece 1 \"x\" is a second unknown piece");
  EXPECT_EQ(said(unknown + field(1, "")), "piece 1 is empty");
  EXPECT_EQ(said(unknown + field(1, field(1, "\xff"))), "piece 1 is not UTF-8");
  EXPECT_EQ(said(unknown + field(1, field(1, "x") + std::string{"\x15\0\0\xc0\x7f", 5})),
            "piece 1 \"x\" has a score that is not a finite number");
  EXPECT_EQ(said(field(1, field(1, "x") + flag(3, 9))),
            "field 3 at byte 6 is not a type of a piece: 9");
  EXPECT_EQ(said(unknown + field(2, flag(3, 3))),
            "models of type word are not supported; supported: unigram and bpe");
  EXPECT_EQ(said(unknown + field(2, flag(3, 7))), "field 3 at byte 14 is not a type of a model: 7");
  EXPECT_EQ(said(unknown + field(2, std::string{"\x98\x02\x01"})),
            "has no piece for byte 0, which byte fallback needs");
  EXPECT_EQ(said(unknown + field(3, field(2, "map"))),
            "the character map is damaged: it is too short (it begins at byte 15)");
}

TEST(SentencePieceModel, ShiftsItsSumsWhereTheyGrowLarge) {
  std::string model = field(1, field(1, "<unk>") + flag(3, 2));
  model += field(1, field(1, "a") + std::string{"\x15\x00\x50\xc3\xc7", 5});   // -100,000
  model += field(1, field(1, "aa") + std::string{"\x15\x00\x24\x74\xc8", 5});  // -250,000
  model += field(3, flag(3, 0));
  const auto pipeline = parse_sentence_piece_model(model).pipeline();
  EXPECT_EQ(ids_of(pipeline, "aaaa"), (std::vector<Id>{1, 1, 1, 1}));
}

}  // namespace
}  // namespace seqtrain::text
