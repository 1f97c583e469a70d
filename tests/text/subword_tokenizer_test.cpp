#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/text/subword_tokenizer.hpp>

#include "support/corrupt.hpp"
#include "support/shared_data.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::text {
namespace {

using Ids = std::vector<text::Id>;

std::filesystem::path golden_model(const std::string& name) {
  return tests::golden() / "subwords" / (name + ".model");
}

Ids encode(const SubwordTokenizer& tokenizer, std::string_view text,
           std::optional<std::string_view> pair = {}, const text::EncodeOptions& options = {}) {
  SubwordTokenizer::Scratch scratch;
  Ids ids;
  const std::size_t of_type_zero = tokenizer.encode(text, pair, options, scratch, ids);
  EXPECT_EQ(of_type_zero, ids.size());
  return ids;
}

void expect_golden(const std::string& name) {
  const auto tokenizer = load_subwords(golden_model(name));
  const auto golden = json::Document::load(tests::golden() / "subwords/expected.json");
  EXPECT_EQ(tokenizer.vocab_size(), static_cast<std::size_t>(golden.root().at(name).integer()));
  std::size_t found = 0;
  for (const auto& entry : golden.root().at("cases").items()) {
    Ids expected;
    for (const auto& id : entry.at(name).items()) {
      expected.push_back(static_cast<text::Id>(id.integer()));
    }
    const std::string text{entry.at("text").string()};
    EXPECT_EQ(encode(tokenizer, text, {}, {.add_special_tokens = false}), expected) << text;
    found += expected.size();
  }
  EXPECT_GT(found, 400U);
}

TEST(SubwordTokenizer, GivesTheIdsThatPythonGives) {
  expect_golden("unigram");  // has pieces for marks, so texts get marks
  expect_golden("bpe");      // has no pieces for marks
}

TEST(SubwordTokenizer, IsSharedByThreads) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([] { expect_golden("unigram"); });
}

TEST(SubwordTokenizer, BeginsTextsWithWhatTheModelHas) {
  const auto marks = load_subwords(golden_model("unigram"));
  EXPECT_EQ(encode(marks, ""), (Ids{2}));
  EXPECT_EQ(encode(marks, "the", ".").size(), encode(marks, "the").size() + 3);
  EXPECT_EQ(marks.pad_id(), 1);
  EXPECT_EQ(marks.special_tokens(true), 2U);
  const auto plain = load_subwords(golden_model("bpe"));
  EXPECT_EQ(encode(plain, ""), (Ids{1}));
  EXPECT_EQ(plain.pad_id(), 0);  // falls back to the unknown piece
}

TEST(SubwordTokenizer, CutsAtTheGreatestLength) {
  const auto tokenizer = load_subwords(golden_model("bpe"));
  const Ids all = encode(tokenizer, "The coffee was warm");
  const Ids cut = encode(tokenizer, "The coffee was warm", {}, {.max_length = 4});
  EXPECT_EQ(cut, Ids(all.begin(), all.begin() + 4));
}

TEST(SubwordTokenizer, TellsWhatItsIdsStandFor) {
  const auto texts = load_subwords(golden_model("unigram")).pipeline().texts();
  EXPECT_EQ(texts.size(), 160U);
  EXPECT_EQ(texts[8], "▁xxmaj");
}

TEST(SubwordTokenizer, RefusesWhatIsNotUtf8) {
  EXPECT_THROW(encode(load_subwords(golden_model("bpe")), "a\xFF"), InputError);
}

TEST(SubwordTokenizer, RefusesModelsThatCannotServe) {
  const tests::TemporaryDirectory directory;
  const auto path = directory / "subwords.model";
  const auto refusal = [&](const std::string& bytes) {
    tests::write_file(path, bytes);
    return tests::refusal([&] { static_cast<void>(load_subwords(path)); });
  };
  EXPECT_NE(refusal("").find("subwords.model: is empty"), std::string::npos);
  EXPECT_NE(refusal("no model").find("is not a SentencePiece model"), std::string::npos);
  std::string bpe = tests::read_file(golden_model("bpe"));
  bpe.replace(bpe.find("<s>"), 3, "<t>");
  EXPECT_NE(refusal(bpe).find("has neither xxbos nor <s>"), std::string::npos);
}

TEST(SubwordTokenizer, SurvivesDamagedModels) {
  const tests::TemporaryDirectory directory;
  for (const char* name : {"unigram", "bpe"}) {
    const auto path = directory / name;
    tests::survive_flipped_bits(
        tests::read_file(golden_model(name)), 300, [&](const std::string& damaged) {
          tests::write_file(path, damaged);
          const auto tokenizer = load_subwords(path);
          for (const auto id : encode(tokenizer, "The coffee wasn’t … œuf ﬁn 😀 xxmaj")) {
            ASSERT_LT(static_cast<std::size_t>(id), tokenizer.vocab_size());
          }
        });
  }
}

}  // namespace
}  // namespace seqtrain::text
