#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <seqtrain/text/avx2.hpp>
#include <seqtrain/text/avx512.hpp>
#include <seqtrain/text/models/word_cache.hpp>
#include <seqtrain/text/pre_tokenizers/bit_positions.hpp>

namespace seqtrain::text {

/// The classes of 64 bytes: bit i describes byte i. A byte in neither class is a tab, line feed,
/// carriage return or space. Non-ASCII bytes and ASCII control characters are `word`, because only
/// the normalizer knows their effect.
struct ByteClasses {
  std::uint64_t word = 0;
  std::uint64_t punctuation = 0;

  bool operator==(const ByteClasses&) const = default;
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

#if defined(__x86_64__)
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

/// Does the work of `classify_plain` for whole blocks with AVX2, 32 bytes at a time.
SEQTRAIN_TEXT_AVX2 inline void classify_avx2(const char* in, std::size_t blocks, char* out,
                                             bool lowercase, ByteClasses* classes) noexcept {
  const __m256i case_bit = _mm256_set1_epi8(0x20), change = _mm256_set1_epi8(lowercase ? 0x20 : 0);
  const __m256i a = _mm256_set1_epi8('a'), letters = _mm256_set1_epi8('z' - 'a');
  const __m256i zero = _mm256_set1_epi8('0'), digits = _mm256_set1_epi8(9);
  const __m256i space = _mm256_set1_epi8(' '), tab = _mm256_set1_epi8('\t');
  const __m256i feed = _mm256_set1_epi8('\n'), carriage = _mm256_set1_epi8('\r');
  const __m256i del = _mm256_set1_epi8(0x7F);
  for (; blocks > 0; --blocks, ++classes) {
    std::uint64_t others = 0, punctuations = 0;
    for (int i = 0; i < 64; i += 32, in += 32, out += 32) {
      const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
      const __m256i from_a = _mm256_sub_epi8(_mm256_or_si256(x, case_bit), a);
      const __m256i letter = _mm256_cmpeq_epi8(_mm256_min_epu8(from_a, letters), from_a);
      const __m256i from_zero = _mm256_sub_epi8(x, zero);
      const __m256i digit = _mm256_cmpeq_epi8(_mm256_min_epu8(from_zero, digits), from_zero);
      const __m256i graphic =
          _mm256_andnot_si256(_mm256_cmpeq_epi8(x, del), _mm256_cmpgt_epi8(x, space));
      const __m256i punctuation = _mm256_andnot_si256(_mm256_or_si256(letter, digit), graphic);
      const __m256i breaks =
          _mm256_or_si256(_mm256_cmpeq_epi8(x, feed), _mm256_cmpeq_epi8(x, carriage));
      const __m256i blanks =
          _mm256_or_si256(_mm256_cmpeq_epi8(x, space), _mm256_cmpeq_epi8(x, tab));
      const __m256i other = _mm256_or_si256(punctuation, _mm256_or_si256(breaks, blanks));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                          _mm256_or_si256(x, _mm256_and_si256(letter, change)));
      const auto bits = [](int mask) { return std::uint64_t{static_cast<std::uint32_t>(mask)}; };
      others |= bits(_mm256_movemask_epi8(other)) << i;
      punctuations |= bits(_mm256_movemask_epi8(punctuation)) << i;
    }
    *classes = {.word = ~others, .punctuation = punctuations};
  }
}

/// Does the work of `classify` with AVX-512.
SEQTRAIN_TEXT_AVX512 inline void classify_avx512(std::string_view text, char* out, bool lowercase,
                                                 ByteClasses* classes) noexcept {
  const __m512i case_bit = _mm512_set1_epi8(0x20), change = _mm512_set1_epi8(lowercase ? 0x20 : 0);
  const __m512i a = _mm512_set1_epi8('a'), letters = _mm512_set1_epi8('z' - 'a');
  const __m512i zero = _mm512_set1_epi8('0'), digits = _mm512_set1_epi8(9);
  const __m512i space = _mm512_set1_epi8(' '), tab = _mm512_set1_epi8('\t');
  const __m512i feed = _mm512_set1_epi8('\n'), carriage = _mm512_set1_epi8('\r');
  const __m512i del = _mm512_set1_epi8(0x7F);
  for (std::size_t at = 0; at < text.size(); at += 64) {
    const auto left = static_cast<unsigned>(std::min<std::size_t>(64, text.size() - at));
    const __m512i x =
        _mm512_mask_loadu_epi8(space, _bzhi_u64(~std::uint64_t{0}, left), text.data() + at);
    const std::uint64_t letter =
        _mm512_cmple_epu8_mask(_mm512_sub_epi8(_mm512_or_si512(x, case_bit), a), letters);
    const std::uint64_t digit = _mm512_cmple_epu8_mask(_mm512_sub_epi8(x, zero), digits);
    const std::uint64_t graphic =
        _mm512_cmpgt_epi8_mask(x, space) & _mm512_cmpneq_epi8_mask(x, del);
    const std::uint64_t blank = _mm512_cmpeq_epi8_mask(x, space) | _mm512_cmpeq_epi8_mask(x, tab) |
                                _mm512_cmpeq_epi8_mask(x, feed) |
                                _mm512_cmpeq_epi8_mask(x, carriage);
    const std::uint64_t punctuation = graphic & ~(letter | digit);
    _mm512_storeu_si512(out + at, _mm512_mask_mov_epi8(x, letter, _mm512_or_si512(x, change)));
    classes[at / 64] = {.word = ~(blank | punctuation), .punctuation = punctuation};
  }
}
#endif

/// Copies `text` to `out`, with A to Z in lower case if `lowercase` is set, and writes the classes
/// of its blocks of 64 bytes. The last block is filled with spaces.
inline void classify(std::string_view text, char* out, bool lowercase,
                     ByteClasses* classes) noexcept {
#if defined(__x86_64__)
  if (has_avx512()) return classify_avx512(text, out, lowercase, classes);
  if (has_avx2()) {
    const std::size_t blocks = text.size() / 64;
    classify_avx2(text.data(), blocks, out, lowercase, classes);
    text.remove_prefix(64 * blocks);
    out += 64 * blocks;
    classes += blocks;
  }
  constexpr auto classify_block = classify_sse2;
#else
  constexpr auto classify_block = classify_plain;
#endif
  for (; text.size() >= 64; text.remove_prefix(64), out += 64) {
    *classes++ = classify_block(text.data(), out, lowercase);
  }
  if (text.empty()) return;
  std::array<char, 64> last;
  last.fill(' ');
  std::memcpy(last.data(), text.data(), text.size());
  *classes = classify_block(last.data(), out, lowercase);
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
    const std::size_t blocks = (size + 63) / 64;
    classify(text.substr(0, size), bytes_.data(), lowercase, classes_.data());
    std::uint64_t in_word = 0;     // Bit 0: the byte before the block is part of a word.
    std::uint64_t after_mark = 0;  // Bit 0: the byte before the block is punctuation.
    for (std::size_t i = 0; i < blocks; ++i) {
      const auto [word, punctuation] = classes_[i];
      const std::uint64_t after_word = word << 1 | in_word;
      begin_bits_[i] = punctuation | (word & ~after_word);
      end_bits_[i] = (punctuation << 1 | after_mark) | (~word & after_word);
      in_word = word >> 63;
      after_mark = punctuation >> 63;
    }
    begins_size_ = list(begin_bits_, blocks, begins_);
    ends_size_ = list(end_bits_, blocks, ends_);
    if (begins_size_ == ends_size_) return size;
    if (size < text.size() && in_word) return begins_[--begins_size_];
    ends_[ends_size_] = static_cast<std::uint16_t>(size);
    return size;
  }

  [[nodiscard]] std::size_t size() const noexcept { return begins_size_; }
  [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
    return {bytes_.data() + begins_[i], static_cast<std::size_t>(ends_[i] - begins_[i])};
  }
  [[nodiscard]] WordPositions positions() const noexcept {
    return {bytes_.data(), begins_.data(), ends_.data()};
  }

  /// Returns the end of the word that `text` begins with.
  [[nodiscard]] static std::size_t word_end(std::string_view text) noexcept {
    std::array<char, 64> block;
    ByteClasses classes;
    for (std::size_t at = 0; at < text.size(); at += 64) {
      classify(text.substr(at, 64), block.data(), false, &classes);
      if (classes.word != ~std::uint64_t{0}) {
        return at + static_cast<std::size_t>(std::countr_one(classes.word));
      }
    }
    return text.size();
  }

 private:
  using Bits = std::array<std::uint64_t, chunk / 64>;
  using Positions = std::array<std::uint16_t, chunk + 64>;

  /// Lists the positions of the set bits and returns their number.
  static std::size_t list(const Bits& bits, std::size_t blocks, Positions& positions) noexcept {
    const std::uint16_t* const end = write_all_positions(bits.data(), blocks, positions.data());
    return static_cast<std::size_t>(end - positions.data());
  }

  std::array<char, chunk + 64> bytes_{};
  std::array<ByteClasses, chunk / 64> classes_{};
  Bits begin_bits_{};
  Bits end_bits_{};
  Positions begins_{};
  Positions ends_{};
  std::size_t begins_size_ = 0;
  std::size_t ends_size_ = 0;
};

}  // namespace seqtrain::text
