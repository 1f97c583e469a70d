#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/text/word_tokenizer.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::text {
namespace {

using Ids = std::vector<Id>;

const std::vector<std::string>& listed_words() {
  static const std::vector<std::string> words{"xxunk", "xxpad",  "xxbos", "xxeos", "xxfld",
                                              "xxrep", "xxwrep", "xxup",  "xxmaj", "hello",
                                              "world", "!",      "4"};
  return words;
}

Ids encode_words(const WordTokenizer& tokenizer, std::string_view text,
                 std::optional<std::string_view> pair = {}, const EncodeOptions& options = {}) {
  WordTokenizer::Scratch scratch;
  Ids ids;
  const std::size_t of_type_zero = tokenizer.encode(text, pair, options, scratch, ids);
  EXPECT_EQ(of_type_zero, ids.size());
  return ids;
}

TEST(WordTokenizer, GivesMarksAndWordsTheirPlacesInTheList) {
  const auto tokenizer = make_word_tokenizer(listed_words());
  EXPECT_EQ(encode_words(tokenizer, "Hello WORLD!!!!"), (Ids{2, 8, 9, 7, 10, 5, 12, 11}));
  EXPECT_EQ(encode_words(tokenizer, "hello stranger"), (Ids{2, 9, 0}));
  EXPECT_EQ(encode_words(tokenizer, "hello", "world"), (Ids{2, 9, 4, 10}));
  EXPECT_EQ(tokenizer.vocab_size(), 13U);
  EXPECT_EQ(tokenizer.pad_id(), 1);
  EXPECT_EQ(tokenizer.special_tokens(false), 1U);
}

TEST(WordTokenizer, KeepsTheBeginningOfAnEmptyAndOfACutText) {
  const auto tokenizer = make_word_tokenizer(listed_words());
  EXPECT_EQ(encode_words(tokenizer, ""), (Ids{2}));
  EXPECT_EQ(encode_words(tokenizer, "hello hello world", {}, {.max_length = 3}), (Ids{2, 9, 9}));
}

TEST(WordTokenizer, RefusesListsThatCannotServe) {
  const auto problem = [](std::vector<std::string> words) {
    return tests::problem_of([&] { static_cast<void>(make_word_tokenizer(words)); });
  };
  EXPECT_EQ(problem({"xxunk", "xxbos", "a"}), "the vocabulary has no xxpad");
  auto twice = listed_words();
  twice.emplace_back("hello");
  EXPECT_NE(problem(twice).find("'hello' is repeated"), std::string::npos);
  auto filled = listed_words();
  filled.insert(filled.end(), {"xxfake", "xxfake"});
  EXPECT_EQ(make_word_tokenizer(filled).vocab_size(), 15U);
}

TEST(WordTokenizer, RefusesWhatIsNotUtf8) {
  const auto tokenizer = make_word_tokenizer(listed_words());
  EXPECT_THROW(encode_words(tokenizer, "a\xFF"), InputError);
}

}  // namespace
}  // namespace seqtrain::text
