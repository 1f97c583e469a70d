#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/tokenizer.hpp>

namespace seqtrain::text {
namespace {

WordPiece wordpiece_of_letters() {
  std::vector<std::string> names{"[UNK]", "<", ">", "-", "é", "中"};
  for (char c = 'a'; c <= 'z'; ++c) {
    for (const char* mark : {"", "##"}) names.push_back(mark + std::string{c});
  }
  std::vector<WordPiece::Entry> entries;
  for (const auto& name : names) entries.emplace_back(name, static_cast<Id>(entries.size()));
  return WordPiece{entries, {}};
}

template <class Pipeline>
std::vector<Id> encode(const BasicTokenizer<Pipeline>& tokenizer, std::string_view text,
                       typename Pipeline::Scratch& scratch, std::size_t max_length) {
  std::vector<Id> ids;
  tokenizer.encode(text, {}, {.max_length = max_length}, scratch, ids);
  return ids;
}

/// Returns `count` characters of `characters`.
std::string draw(std::mt19937& random, std::u32string_view characters, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    append_utf8(text, characters[random() % characters.size()]);
  }
  return text;
}

TEST(BertAddedTokens, RandomTokensAreFoundAsInTheWholeNormalForm) {
  using Plain = BertPipeline::Plain;
  constexpr std::u32string_view characters =
      U"aabbccABC<<>-  \u00E9\u0301\u226E\u212A\u0130k\u4E2D\u200D\t\x01";
  std::mt19937 random{5};
  std::size_t found = 0, texts_with_cache = 0;
  for (unsigned round = 0; round < 64; ++round) {
    const BertNormalizer normalizer{.clean_text = (round & 1) == 0,
                                    .handle_chinese_chars = (round & 2) == 0,
                                    .lowercase = (round & 4) == 0,
                                    .strip_accents = (round & 8) == 0};
    TokenizerOptions options;
    const std::size_t tokens = 1 + random() % 3;
    for (std::size_t i = 0; i < tokens; ++i) {
      const bool word = random() % 2 == 0;
      options.added_tokens.push_back(
          {.content = draw(random, word ? U"abck" : characters, 1 + random() % 3),
           .id = static_cast<Id>(1000 + i),
           .single_word = random() % 8 == 0,
           .lstrip = random() % 8 == 0,
           .rstrip = random() % 8 == 0,
           .normalized = true});
    }
    BertPipeline pipeline{normalizer, {}, wordpiece_of_letters()};
    const BasicTokenizer<BertPipeline> tested{pipeline, options};
    const BasicTokenizer<Plain> reference{{normalizer, {}, wordpiece_of_letters()}, options};
    BertPipeline::Scratch scratch;
    Plain::Scratch plain_scratch;
    for (int i = 0; i < 50; ++i) {
      const auto text = draw(random, characters, random() % 30);
      const std::size_t most = i % 5 == 0 ? random() % 10 : 1000;
      const auto expected = encode(reference, text, plain_scratch, most);
      ASSERT_EQ(encode(tested, text, scratch, most), expected) << text;
      found += std::ranges::any_of(expected, [](Id id) { return id >= 1000; });
      std::vector<Id> ids;
      texts_with_cache += tested.pipeline().encode_words(text, most, scratch, ids);
    }
  }
  EXPECT_GT(found, 400u);
  EXPECT_GT(texts_with_cache, 400u);
}

TEST(BertAddedTokens, UsualTextsKeepTheCache) {
  const BertAddedTokens tokens{{}, {{.content = "<unk>"}, {.content = "wiki"}}};
  EXPECT_TRUE(tokens.in_words().contained_in("mywikipage"));
  EXPECT_FALSE(tokens.others_may_occur("a < b, <br /> a café and a “wiki” <i>"));
  for (const char* text : {"<unk>", "<UNK>", "a<\x01unk>", "\u226Eunk>", "<\u0338unk>"}) {
    EXPECT_TRUE(tokens.others_may_occur(text)) << text;
  }
}

}  // namespace
}  // namespace seqtrain::text
