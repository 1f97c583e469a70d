#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <seqtrain/core/separate_compilation.hpp>

namespace seqtrain::baseline {

/// A word, several words or a sequence of characters, as a number. The two highest bits are its
/// `Part`. Different terms of a data set practically never have the same number.
using Term = std::uint64_t;

/// The kinds of terms. Those of a second text are other terms than those of the first.
enum class Part : std::uint8_t { words, characters, words_of_pair, characters_of_pair };
/// The number of kinds.
inline constexpr std::size_t parts = 4;

/// Returns the number of the `Part` that a term belongs to.
[[nodiscard]] constexpr std::size_t part_of(Term term) {
  return static_cast<std::size_t>(term >> 62);
}

/// The options say which terms a text has. They are those of `ngram_range` in scikit-learn.
struct TermOptions {
  std::size_t most_words = 2;         ///< the most words of a term
  std::size_t fewest_characters = 3;  ///< the fewest characters of a term of characters
  std::size_t most_characters = 5;    ///< the most characters of such a term

  bool operator==(const TermOptions&) const = default;
};

/// A term and how often a text has it.
struct CountedTerm {
  Term term = 0;
  std::uint32_t count = 0;
};

/// Reads the terms of texts in lower case: words of two or more word characters, sequences of them,
/// and sequences of characters within words that have a blank on each side. These are the terms of
/// scikit-learn's `TfidfVectorizer` with `analyzer` "word" and "char_wb".
class TermReader {
 public:
  explicit TermReader(const TermOptions& options = {}) : options_{options} {}

  /// Returns the terms in ascending order. They are valid until the next call.
  [[nodiscard]] std::span<const CountedTerm> read(std::string_view text,
                                                  std::optional<std::string_view> pair = {});

 private:
  void add(std::uint64_t sequence, Part part);
  void read_text(std::string_view text, Part words, Part characters);
  void read_words(Part part);
  void read_characters(Part part);
  void read_padded(Part part);

  TermOptions options_;
  std::vector<char32_t> lower_;
  std::vector<char32_t> padded_;
  std::vector<std::uint64_t> words_;
  std::vector<Term> terms_;
  std::vector<CountedTerm> counted_;
};

}  // namespace seqtrain::baseline

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/baseline/src/terms.hpp>
#endif
