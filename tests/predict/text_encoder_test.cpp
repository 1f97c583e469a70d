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

/// A tokenizer whose ids are letters. A text becomes `[text]`, a pair `[text|pair]` with a given
/// number of bars.
struct BracketTokenizer {
  struct Scratch {};

  std::size_t encode(std::string_view text, std::optional<std::string_view> pair,
                     const text::EncodeOptions& options, Scratch&,
                     std::vector<text::Id>& out) const {
    text::PairLengths lengths{text.size(), pair.value_or("").size()};
    const std::size_t budget = options.max_length - special_tokens(pair.has_value());
    lengths = text::longest_first(lengths, budget);
    const auto cut = [&](std::string_view whole, std::size_t kept) {
      const bool left = options.truncate_left.value_or(false);
      return whole.substr(left ? whole.size() - kept : 0, kept);
    };
    std::string letters = "[" + std::string{cut(text, lengths.first)};
    if (pair) letters += std::string(bars, '|');
    const std::size_t first = letters.size();
    letters.append(cut(pair.value_or(""), lengths.second)).append("]");
    out.insert(out.end(), letters.begin(), letters.end());
    return pair ? first : letters.size();
  }
  [[nodiscard]] std::size_t vocab_size() const { return 128; }
  [[nodiscard]] text::Id pad_id() const { return 0; }
  [[nodiscard]] std::size_t special_tokens(bool pair) const { return pair ? 2 + bars : 2; }

  std::size_t bars = 1;
};

/// Returns the letters of an encoded text, with `^` before the first of type 1.
std::string cut_beginning(const TextEncoder& encode, std::string_view text,
                          std::optional<std::string_view> pair = {}) {
  const auto encoded = encode(text, pair, 10, Cut::beginning);
  std::string letters{encoded.input_ids.begin(), encoded.input_ids.end()};
  return letters.insert(encoded.first_segment, "^");
}

TEST(TextEncoder, CutsOffTheBeginning) {
  const TextEncoder one{BracketTokenizer{1}};
  EXPECT_EQ(cut_beginning(one, "abcdefghijkl"), "[efghijkl]^");
  EXPECT_EQ(cut_beginning(one, "abc"), "[abc]^");
  EXPECT_TRUE(one("abcdefghijkl", {}, 10, Cut::beginning).truncated);
  EXPECT_EQ(cut_beginning(one, "abcdefgh", "stuvwxyz"), "[fgh|^wxyz]");
  EXPECT_EQ(cut_beginning(one, "abcdefghijkl", "yz"), "[hijkl|^yz]");
  EXPECT_EQ(cut_beginning(one, "abc", "yz"), "[abc|^yz]");
  const TextEncoder two{BracketTokenizer{2}};
  EXPECT_EQ(cut_beginning(two, "abcdefgh", "stuvwxyz"), "[fgh||^xyz]");
  EXPECT_EQ(cut_beginning(two, "abcdefghijkl", "yz"), "[ijkl||^yz]");
  EXPECT_EQ(TextEncoder{words()}("a b c", {}, 3, Cut::beginning).input_ids, (TokenIds{2, 10, 11}));
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
