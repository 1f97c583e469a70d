#pragma once

#include <seqtrain/text/unicode/unicode.hpp>

namespace seqtrain::text {

/// Tells whether a character is of a script that writes no spaces between words: Chinese, Japanese,
/// Thai, Lao, Tibetan, Burmese or Khmer.
[[nodiscard]] inline bool is_unspaced(char32_t code) {
  const auto within = [code](char32_t first, char32_t last) {
    return first <= code && code <= last;
  };
  return is_ideograph(code) || within(0x3040, 0x30FF) || within(0x31F0, 0x31FF) ||
         within(0xFF66, 0xFF9F) || within(0x0E00, 0x0FFF) || within(0x1000, 0x109F) ||
         within(0x1780, 0x17FF);
}

}  // namespace seqtrain::text
