#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/data/example.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/data/visit_examples.hpp>
#include <seqtrain/text/any_tokenizer.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/tokenizer_family.hpp>
#include <seqtrain/text/unicode/scripts.hpp>
#include <seqtrain/text/unicode/unicode.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::data {

namespace detail {

/// Returns the words of a valid text that consist of letters and stand between spaces or
/// punctuation, with a space between each two, and adds their number to `count`. What has more
/// letters than words of languages have, such as the sequence of a protein, is no word.
inline std::string plain_words(std::string_view text, std::size_t& count) {
  constexpr std::size_t most_letters = 64;
  std::string words, word;
  std::size_t letters = 0;
  bool plain = true;
  const auto end_word = [&] {
    if (plain && letters > 0 && letters <= most_letters) {
      words += (words.empty() ? "" : " ") + word;
      ++count;
    }
    word.clear();
    letters = 0;
    plain = true;
  };
  for (std::size_t at = 0, next = 0; at < text.size(); at = next) {
    const char32_t code = text::decode(text, next);
    const bool letter =
        (text::is_word_character(code) && !text::is_numeric(code)) || text::is_mark(code);
    if (text::is_whitespace(code) || text::is_punctuation(code)) {
      end_word();
    } else {
      plain = plain && letter && !text::is_unspaced(code);
      word += text.substr(at, next - at);
      ++letters;
    }
  }
  end_word();
  return words;
}

}  // namespace detail

/// Counts the tokens that words become. Only words of letters count, in scripts that write spaces
/// between words.
template <class Tokenizer>
class TokensAWord {
 public:
  explicit TokensAWord(const Tokenizer& tokenizer) : tokenizer_{&tokenizer} {}

  /// Adds the words of a text. One that is not UTF-8 does not count.
  void add(std::string_view text) {
    if (!text::is_valid_utf8(text)) return;
    const std::string words = detail::plain_words(text, words_);
    if (words.empty()) return;
    ids_.clear();
    tokenizer_->encode(words, {}, {}, scratch_, ids_);
    tokens_ += ids_.size() - tokenizer_->special_tokens(/*pair=*/false);
  }

  /// Returns the mean number of tokens, or NaN if there are fewer than 100 words.
  [[nodiscard]] double mean() const {
    constexpr std::size_t least = 100;
    if (words_ < least) return std::numeric_limits<double>::quiet_NaN();
    return static_cast<double>(tokens_) / static_cast<double>(words_);
  }

 private:
  const Tokenizer* tokenizer_;
  typename Tokenizer::Scratch scratch_;
  std::vector<text::Id> ids_;
  std::size_t words_ = 0;
  std::size_t tokens_ = 0;
};

/// Returns the mean number of tokens that a word of the first 1,000 examples of a file has, as
/// `TokensAWord` counts them.
template <class Tokenizer>
[[nodiscard]] double tokens_a_word(const std::filesystem::path& file, const ReadOptions& read,
                                   const Labels& labels, const Tokenizer& tokenizer) {
  constexpr std::size_t most = 1000;
  struct Enough {};  // ends the reading, because the file may be long
  TokensAWord<Tokenizer> counted{tokenizer};
  try {
    visit_examples(file, read, labels, [&](const ExamplePlace& place, const Example& example) {
      if (place.row == most) throw Enough{};
      counted.add(example.text);
      if (example.text_pair) counted.add(*example.text_pair);
    });
  } catch (const Enough&) {
  }
  return counted.mean();
}

/// Returns it for the tokenizer of a model.
[[nodiscard]] inline double tokens_a_word(const std::filesystem::path& file,
                                          const ReadOptions& read, const Labels& labels,
                                          const text::AnyTokenizer& tokenizer) {
  return tokenizer.visit(
      [&](const auto& family) { return tokens_a_word(file, read, labels, family); });
}

}  // namespace seqtrain::data
