#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/predict/text_encoder.hpp>
#include <seqtrain/text/loading/word_list.hpp>
#include <seqtrain/text/tokenizer_family.hpp>

#include "support/letter_tokenizer.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::predict {
namespace {

using TokenIds = std::vector<std::int32_t>;

text::AnyTokenizer words() {
  std::vector<std::string> words{text::Mark::all.begin(), text::Mark::all.end()};
  words.insert(words.end(), {"a", "b", "c"});
  return text::AnyTokenizer{text::make_word_tokenizer(words)};
}

TEST(TextEncoder, EncodesAsTheTokenizerDoes) {
  const TextEncoder letters{tests::LetterTokenizer{}};
  const auto pair = letters("ab", "c", 100);
  EXPECT_EQ(pair.input_ids, (TokenIds{300, 'a', 'b', 301, 'c', 301}));
  EXPECT_EQ(pair.first_segment, 4U);
  EXPECT_EQ(letters.pad_id(), 302);
  EXPECT_EQ(letters.vocab_size(), 303U);
  EXPECT_EQ(TextEncoder{words()}("b c", {}, 100).input_ids, (TokenIds{2, 10, 11}));
}

TEST(TextEncoder, CutsAsTheCallOrTheTokenizerSays) {
  const std::string_view text = "a b c a b c";
  EXPECT_EQ(TextEncoder{words()}(text, {}, 3).input_ids, (TokenIds{2, 9, 10}));
  EXPECT_EQ(TextEncoder{words()}(text, {}, 3, text::LongTexts::tail).input_ids,
            (TokenIds{2, 10, 11}));
  auto tokenizer = words();
  tokenizer.set_long_texts(text::LongTexts::head_tail, 5);
  const TextEncoder encode{tokenizer};
  EXPECT_EQ(encode.max_length(), 5U);
  EXPECT_EQ(encode(text, {}, encode.max_length()).input_ids, (TokenIds{2, 9, 9, 10, 11}));
  EXPECT_EQ(encode(text, {}, 3, text::LongTexts::tail).input_ids, (TokenIds{2, 10, 11}));
}

TEST(TextEncoder, NamesTokensIfTheTokenizerDoes) {
  const auto tokens = TextEncoder{words()}.tokens("b", true);
  ASSERT_TRUE(tokens);
  EXPECT_EQ(tokens->back().text, "b");
  EXPECT_FALSE(TextEncoder{tests::LetterTokenizer{}}.tokens("b", true));
}

TEST(TextEncoder, RefusesTextThatIsNotUtf8) {
  const TextEncoder encode{words()};
  EXPECT_THROW(static_cast<void>(encode("\xFF", {}, 5)), InputError);
  EXPECT_EQ(encode("a", {}, 5).input_ids, (TokenIds{2, 9}));
}

TEST(TextEncoder, IsSharedByThreads) {
  const TextEncoder encode{words()};
  std::vector<int> right(4);
  {
    std::vector<std::jthread> threads;
    for (int& count : right) {
      threads.emplace_back([&] {
        for (std::size_t i = 0; i < 200; ++i) {
          const std::string text = i % 2 == 0 ? "a b" : "c c a";
          const TokenIds expected = i % 2 == 0 ? TokenIds{2, 9, 10} : TokenIds{2, 11, 11, 9};
          if (encode(text, {}, 10).input_ids == expected) ++count;
        }
      });
    }
  }
  EXPECT_EQ(right, (std::vector<int>{200, 200, 200, 200}));
}

}  // namespace
}  // namespace seqtrain::predict
