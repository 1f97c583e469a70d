#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <seqtrain/baseline/terms.hpp>
#include <seqtrain/core/random.hpp>
#include <seqtrain/text/unicode/unicode.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::baseline {

namespace detail {

/// Extends the number of a sequence by one more character or word.
constexpr std::uint64_t extended(std::uint64_t sequence, std::uint64_t next) {
  return random::scramble(sequence + (next + 1) * 0x9E3779B97F4A7C15U);
}

}  // namespace detail

SEQTRAIN_SEPARATE std::span<const CountedTerm> TermReader::read(
    std::string_view text, std::optional<std::string_view> pair) {
  terms_.clear();
  read_text(text, Part::words, Part::characters);
  if (pair) read_text(*pair, Part::words_of_pair, Part::characters_of_pair);
  std::ranges::sort(terms_);
  counted_.clear();
  for (const Term term : terms_) {
    if (counted_.empty() || counted_.back().term != term) counted_.push_back({.term = term});
    ++counted_.back().count;
  }
  return counted_;
}

SEQTRAIN_SEPARATE void TermReader::add(std::uint64_t sequence, Part part) {
  terms_.push_back(sequence >> 2 | std::uint64_t{static_cast<std::uint8_t>(part)} << 62);
}

SEQTRAIN_SEPARATE void TermReader::read_text(std::string_view text, Part words, Part characters) {
  lower_.clear();
  std::size_t at = 0;
  while (at < text.size()) {
    const auto length = text::well_formed_prefix(text.substr(at));
    if (length == 0) {  // no UTF-8
      lower_.push_back(U'\uFFFD');
      ++at;
      continue;
    }
    const char32_t code = text::decode(text, at);
    if (code < 0x80) {
      lower_.push_back(code >= U'A' && code <= U'Z' ? code + 32 : code);
    } else {
      for (const char32_t part : text::lower(code)) lower_.push_back(part);
    }
  }
  read_words(words);
  read_characters(characters);
}

SEQTRAIN_SEPARATE void TermReader::read_words(Part part) {
  words_.clear();
  for (std::size_t i = 0; i < lower_.size();) {
    std::uint64_t word = 0;
    const std::size_t begin = i;
    while (i < lower_.size() && text::is_word_character(lower_[i])) {
      word = detail::extended(word, lower_[i++]);
    }
    if (i - begin >= 2) words_.push_back(word);
    if (i == begin) ++i;
  }
  for (std::size_t begin = 0; begin < words_.size(); ++begin) {
    const std::size_t end = std::min(words_.size(), begin + options_.most_words);
    std::uint64_t sequence = 0;
    for (std::size_t i = begin; i < end; ++i) {
      sequence = detail::extended(sequence, words_[i]);
      add(sequence, part);
    }
  }
}

SEQTRAIN_SEPARATE void TermReader::read_characters(Part part) {
  for (std::size_t i = 0; i < lower_.size();) {
    if (text::is_whitespace(lower_[i])) {
      ++i;
      continue;
    }
    padded_.assign(1, U' ');
    while (i < lower_.size() && !text::is_whitespace(lower_[i])) padded_.push_back(lower_[i++]);
    padded_.push_back(U' ');
    read_padded(part);
  }
}

/// Reads the sequences of a word. A word that is shorter than they are counts once, as a whole.
SEQTRAIN_SEPARATE void TermReader::read_padded(Part part) {
  const std::size_t shortest = std::min(options_.fewest_characters, padded_.size());
  for (std::size_t begin = 0; begin + shortest <= padded_.size(); ++begin) {
    const std::size_t end = std::min(padded_.size(), begin + options_.most_characters);
    std::uint64_t sequence = 0;
    for (std::size_t i = begin; i < end; ++i) {
      sequence = detail::extended(sequence, padded_[i]);
      if (i + 1 - begin >= shortest) add(sequence, part);
    }
  }
}

}  // namespace seqtrain::baseline
