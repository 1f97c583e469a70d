#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <seqtrain/text/models/word_cache.hpp>
#include <seqtrain/text/pre_tokenizers/bit_positions.hpp>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace seqtrain::text {

/// The classes of 64 bytes: bit i describes byte i. A byte in neither class is a tab, line feed,
/// carriage return or space. Non-ASCII bytes and ASCII control characters are `word`, because only
/// the normalizer knows their effect.
struct ByteClasses {
  std::uint64_t word = 0;
  std::uint64_t punctuation = 0;
};

/// Copies 64 bytes to `out`, with A to Z in lower case if `lowercase` is set, and returns their
/// classes.
inline ByteClasses classify_plain(const char* in, char* out, bool lowercase) noexcept {
  ByteClasses classes;
  for (unsigned i = 0; i < 64; ++i) {
    const auto byte = static_cast<unsigned char>(in[i]);
    const auto within = [&](unsigned low, unsigned high) { return low <= byte && byte <= high; };
    const bool space = byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
    const bool punctuation =
        within('!', '/') || within(':', '@') || within('[', '`') || within('{', '~');
    out[i] = lowercase && within('A', 'Z') ? static_cast<char>(byte | 0x20) : in[i];
    classes.word |= std::uint64_t{!space && !punctuation} << i;
    classes.punctuation |= std::uint64_t{punctuation} << i;
  }
  return classes;
}

#if defined(__SSE2__)
/// Does the work of `classify_plain` with SSE2, 16 bytes at a time.
inline ByteClasses classify_sse2(const char* in, char* out, bool lowercase) noexcept {
  const auto all = [](int byte) { return _mm_set1_epi8(static_cast<char>(byte)); };
  const auto within = [&](__m128i x, char low, char high) {
    const __m128i distance = _mm_sub_epi8(x, all(low));
    return _mm_cmpeq_epi8(_mm_min_epu8(distance, all(high - low)), distance);
  };
  const auto bits = [](__m128i x) { return static_cast<std::uint64_t>(_mm_movemask_epi8(x)); };
  const __m128i case_bit = all(lowercase ? 0x20 : 0);
  ByteClasses classes;
  for (int i = 0; i < 64; i += 16) {
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));
    const __m128i letter = within(_mm_or_si128(x, all(0x20)), 'a', 'z');
    const __m128i alphanumeric = _mm_or_si128(letter, within(x, '0', '9'));
    const __m128i graphic =
        _mm_andnot_si128(_mm_cmpeq_epi8(x, all(0x7F)), _mm_cmpgt_epi8(x, all(' ')));
    const __m128i punctuation = _mm_andnot_si128(alphanumeric, graphic);
    const __m128i breaks = _mm_or_si128(_mm_cmpeq_epi8(x, all('\n')), _mm_cmpeq_epi8(x, all('\r')));
    const __m128i blanks = _mm_or_si128(_mm_cmpeq_epi8(x, all(' ')), _mm_cmpeq_epi8(x, all('\t')));
    const __m128i other = _mm_or_si128(punctuation, _mm_or_si128(breaks, blanks));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm_or_si128(x, _mm_and_si128(letter, case_bit)));
    classes.word |= bits(other) << i;
    classes.punctuation |= bits(punctuation) << i;
  }
  classes.word = ~classes.word;
  return classes;
}
#endif

inline ByteClasses classify(const char* in, char* out, bool lowercase) noexcept {
#if defined(__SSE2__)
  return classify_sse2(in, out, lowercase);
#else
  return classify_plain(in, out, lowercase);
#endif
}

/// A chunk of text that is cut at ASCII whitespace, which is dropped, and at ASCII punctuation,
/// each character of which is a word. 16 bytes can be read from the start of any word.
class AsciiWords {
 public:
  static constexpr std::size_t chunk = 2048;

  /// Cuts words off the front of `text` and returns the number of bytes that they take. A word that
  /// may continue after the chunk is left for the next call. Returns 0 if the first word fills the
  /// chunk.
  std::size_t scan(std::string_view text, bool lowercase) noexcept {
    const std::size_t size = std::min(text.size(), chunk);
    begins_size_ = ends_size_ = 0;
    std::uint64_t in_word = 0;     // Bit 0: the byte before the block is part of a word.
    std::uint64_t after_mark = 0;  // Bit 0: the byte before the block is punctuation.
    std::size_t at = 0;
    for (; at < size; at += 64) {
      const ByteClasses block = read(text, at, bytes_.data() + at, lowercase);
      append(begins_, begins_size_, at,
             block.punctuation | (block.word & ~(block.word << 1 | in_word)));
      append(ends_, ends_size_, at,
             (block.punctuation << 1 | after_mark) | (~block.word & (block.word << 1 | in_word)));
      in_word = block.word >> 63;
      after_mark = block.punctuation >> 63;
    }
    if (begins_size_ == ends_size_) return size;
    if (size < text.size() && in_word) return begins_[--begins_size_];
    ends_[ends_size_] = static_cast<std::uint16_t>(size);
    return size;
  }

  [[nodiscard]] std::size_t size() const noexcept { return begins_size_; }
  [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
    return {bytes_.data() + begins_[i], static_cast<std::size_t>(ends_[i] - begins_[i])};
  }
  [[nodiscard]] WordKey key(std::size_t i) const noexcept { return WordKey::of_padded((*this)[i]); }

  /// Returns the end of the word that `text` begins with.
  [[nodiscard]] static std::size_t word_end(std::string_view text) noexcept {
    std::array<char, 64> block;
    for (std::size_t at = 0; at < text.size(); at += 64) {
      const std::uint64_t outside = ~read(text, at, block.data(), false).word;
      if (outside != 0) return at + static_cast<std::size_t>(std::countr_zero(outside));
    }
    return text.size();
  }

 private:
  using Positions = std::array<std::uint16_t, chunk + 64>;

  /// Classifies and copies the block at `at`. Past the end of the text it reads spaces.
  static ByteClasses read(std::string_view text, std::size_t at, char* out,
                          bool lowercase) noexcept {
    const char* in = text.data() + at;
    std::array<char, 64> last;
    if (const std::size_t left = text.size() - at; left < 64) {
      last.fill(' ');
      std::memcpy(last.data(), in, left);
      in = last.data();
    }
    return classify(in, out, lowercase);
  }

  static void append(Positions& positions, std::size_t& size, std::size_t at,
                     std::uint64_t bits) noexcept {
    const std::uint16_t* const end = write_positions(bits, at, positions.data() + size);
    size = static_cast<std::size_t>(end - positions.data());
  }

  std::array<char, chunk + 64> bytes_{};
  Positions begins_{};
  Positions ends_{};
  std::size_t begins_size_ = 0;
  std::size_t ends_size_ = 0;
};

}  // namespace seqtrain::text
