#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>
#include <seqtrain/text/tokenizer_family.hpp>
#include <seqtrain/text/tokens.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::text {
namespace {

std::vector<Token> tokens_in(const std::string& name, std::string_view text, bool special = true) {
  return load_tokenizer(tests::golden() / "tokenizers" / name).visit([&](const auto& tokenizer) {
    return tokenizer.tokens(text, special);
  });
}

TEST(Tokens, StandWhereTheReferenceSaysTheyDo) {
  const auto document = json::Document::load(tests::golden() / "token_places.json");
  for (const auto& record : document.root().items()) {
    const std::string text{record.at("text").string()};
    const std::string name{record.at("tokenizer").string()};
    const auto found = tokens_in(name, text);
    const auto expected = record.at("tokens").items();
    ASSERT_EQ(found.size(), expected.size()) << name << ": " << text;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto fields = expected[i].items();
      SCOPED_TRACE(name + ": " + text + ", token " + std::to_string(i));
      EXPECT_EQ(found[i].id, fields[0].integer());
      ASSERT_EQ(found[i].special, fields[1].integer() == 1);
      ASSERT_EQ(found[i].begin.has_value(), !found[i].special);
      if (found[i].special) continue;
      const auto begin = static_cast<std::size_t>(fields[2].integer());
      const auto end = static_cast<std::size_t>(fields[3].integer());
      EXPECT_EQ(found[i].begin, begin);
      EXPECT_EQ(found[i].end, end);
      EXPECT_EQ(found[i].text, text.substr(begin, end - begin));
    }
  }
}

TEST(Tokens, SpecialOnesHaveTheVocabularysText) {
  const auto all = tokens_in("bert_files", "the");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].text, "[CLS]");
  EXPECT_EQ(all[1], (Token{.id = all[1].id, .text = "the", .begin = 0, .end = 3}));
  EXPECT_EQ(all[2].text, "[SEP]");
  EXPECT_EQ(tokens_in("bert_files", "the", false).size(), 1U);
}

TEST(Tokens, HaveNoPlaceIfWordsAreMarked) {
  std::vector<std::string> words{Mark::all.begin(), Mark::all.end()};
  words.emplace_back("aa");
  const auto all = make_word_tokenizer(words).tokens("Aa aa", true);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0], (Token{.id = 2, .text = "xxbos", .special = true}));
  EXPECT_EQ(all[1].text, "xxmaj");
  EXPECT_EQ(all[1].begin, std::nullopt);
  EXPECT_EQ(all[3].text, "aa");
}

TEST(Tokens, AreOfUtf8) {
  EXPECT_THROW(static_cast<void>(tokens_in("bert_files", "\xFF")), InputError);
}

}  // namespace
}  // namespace seqtrain::text
