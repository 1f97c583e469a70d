#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/predict/text_encoder.hpp>
#include <seqtrain/text/loading/word_list.hpp>

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
  EXPECT_EQ(letters.special_tokens(true), 3U);
  EXPECT_EQ(TextEncoder{words()}("b c", {}, 100).input_ids, (TokenIds{2, 10, 11}));
}

TEST(TextEncoder, SaysWhatWasCut) {
  const TextEncoder encode{words()};
  EXPECT_FALSE(encode("a b c", {}, 5).truncated);
  EXPECT_FALSE(encode("a b c", {}, 4).truncated);
  const auto cut = encode("a b c", {}, 3);
  EXPECT_TRUE(cut.truncated);
  EXPECT_EQ(cut.input_ids, (TokenIds{2, 9, 10}));
  EXPECT_FALSE(encode("a", "b", 4).truncated);
  EXPECT_TRUE(encode("a", "b c", 4).truncated);
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
