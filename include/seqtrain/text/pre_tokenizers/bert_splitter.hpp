#pragma once

#include <cstddef>
#include <string_view>

#include <seqtrain/text/unicode/unicode.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// BERT's splitter: whitespace separates words and is dropped, and each punctuation character is a
/// word.
struct BertSplitter {
  /// Calls `fn(std::string_view)` for each word of `text`, which must be valid UTF-8.
  template <class Fn>
  void for_each_word(std::string_view text, Fn&& fn) const {
    std::size_t begin = 0;
    const auto end_word = [&](std::size_t end) {
      if (begin < end) fn(text.substr(begin, end - begin));
    };
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t start = i;
      const char32_t code = decode(text, i);
      const bool punctuation = is_punctuation(code);
      if (!punctuation && !is_whitespace(code)) continue;
      end_word(start);
      if (punctuation) fn(text.substr(start, i - start));
      begin = i;
    }
    end_word(text.size());
  }
};

}  // namespace seqtrain::text
