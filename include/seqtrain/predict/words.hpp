#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/separate_compilation.hpp>

/// Words of a text as people see them, whatever the tokenizer makes of them, and the text without
/// some of them.
namespace seqtrain::predict {

/// A word of a text.
struct Word {
  std::size_t begin = 0;  ///< the half-open range of its bytes
  std::size_t end = 0;

  bool operator==(const Word&) const = default;
};

/// Returns the words of a text, which must be UTF-8: runs of letters and digits, of punctuation, or
/// of other symbols. An apostrophe or a hyphen between letters is part of a word, and so is a point
/// or a comma between digits. In scripts without spaces each character is a word.
[[nodiscard]] SEQTRAIN_SEPARATE std::vector<Word> words_of(std::string_view text);

/// Returns a text with those of its words that are `kept`. Two words that were apart stay apart.
[[nodiscard]] SEQTRAIN_SEPARATE std::string with_words(std::string_view text,
                                                       std::span<const Word> words,
                                                       const std::vector<bool>& kept);

/// Returns the number of characters of a text, which must be UTF-8.
[[nodiscard]] SEQTRAIN_SEPARATE std::size_t character_count(std::string_view text);

}  // namespace seqtrain::predict

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/predict/src/words.hpp>
#endif
