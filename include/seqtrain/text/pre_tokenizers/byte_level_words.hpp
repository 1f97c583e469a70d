#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include <seqtrain/text/avx2.hpp>
#include <seqtrain/text/avx512.hpp>
#include <seqtrain/text/models/word_cache.hpp>
#include <seqtrain/text/pre_tokenizers/bit_positions.hpp>
#include <seqtrain/text/pre_tokenizers/byte_level.hpp>
#include <seqtrain/text/unicode/unicode.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// The classes of 64 bytes for GPT-2's splitter: bit i describes byte i. A byte without a bit in
/// the first three classes is another ASCII character or not ASCII.
struct ByteLevelClasses {
  std::uint64_t letter = 0;
  std::uint64_t number = 0;
  std::uint64_t whitespace = 0;
  std::uint64_t space = 0;  ///< U+0020, which is also in `whitespace`
  std::uint64_t apostrophe = 0;
  std::uint64_t beyond_ascii = 0;

  bool operator==(const ByteLevelClasses&) const = default;
};

/// Classifies 64 bytes, one at a time.
inline ByteLevelClasses classify_byte_level_plain(const char* in) noexcept {
  ByteLevelClasses classes;
  for (unsigned i = 0; i < 64; ++i) {
    const auto byte = static_cast<unsigned char>(in[i]);
    const auto within = [&](unsigned low, unsigned high) { return low <= byte && byte <= high; };
    classes.letter |= std::uint64_t{within('a', 'z') || within('A', 'Z')} << i;
    classes.number |= std::uint64_t{within('0', '9')} << i;
    classes.whitespace |= std::uint64_t{within('\t', '\r') || byte == ' '} << i;
    classes.space |= std::uint64_t{byte == ' '} << i;
    classes.apostrophe |= std::uint64_t{byte == '\''} << i;
    classes.beyond_ascii |= std::uint64_t{byte > 0x7F} << i;
  }
  return classes;
}

#if defined(__x86_64__)
/// Does the work of `classify_byte_level_plain` with SSE2, 16 bytes at a time.
inline ByteLevelClasses classify_byte_level_sse2(const char* in) noexcept {
  const auto all = [](int byte) { return _mm_set1_epi8(static_cast<char>(byte)); };
  const auto within = [&](__m128i x, char low, char high) {
    const __m128i distance = _mm_sub_epi8(x, all(low));
    return _mm_cmpeq_epi8(_mm_min_epu8(distance, all(high - low)), distance);
  };
  ByteLevelClasses classes;
  for (int i = 0; i < 64; i += 16) {
    const auto add = [&](std::uint64_t& bits, __m128i x) {
      bits |= std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(x))} << i;
    };
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));
    const __m128i space = _mm_cmpeq_epi8(x, all(' '));
    add(classes.letter, within(_mm_or_si128(x, all(0x20)), 'a', 'z'));
    add(classes.number, within(x, '0', '9'));
    add(classes.whitespace, _mm_or_si128(space, within(x, '\t', '\r')));
    add(classes.space, space);
    add(classes.apostrophe, _mm_cmpeq_epi8(x, all('\'')));
    add(classes.beyond_ascii, x);
  }
  return classes;
}

/// Does the work of `classify_byte_level_plain` for `blocks` blocks with AVX2, 32 bytes at a time.
SEQTRAIN_TEXT_AVX2 inline void classify_byte_level_avx2(const char* in, std::size_t blocks,
                                                        ByteLevelClasses* out) noexcept {
  const __m256i lower_case = _mm256_set1_epi8(0x20);
  const __m256i a = _mm256_set1_epi8('a'), letters = _mm256_set1_epi8('z' - 'a');
  const __m256i zero = _mm256_set1_epi8('0'), digits = _mm256_set1_epi8(9);
  const __m256i tab = _mm256_set1_epi8('\t'), breaks = _mm256_set1_epi8('\r' - '\t');
  const __m256i space = _mm256_set1_epi8(' '), apostrophe = _mm256_set1_epi8('\'');
  for (; blocks > 0; --blocks, ++out) {
    ByteLevelClasses classes;
    for (int i = 0; i < 64; i += 32, in += 32) {
      const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
      const __m256i from_a = _mm256_sub_epi8(_mm256_or_si256(x, lower_case), a);
      const __m256i from_zero = _mm256_sub_epi8(x, zero), from_tab = _mm256_sub_epi8(x, tab);
      const __m256i is_space = _mm256_cmpeq_epi8(x, space);
      const __m256i is_break = _mm256_cmpeq_epi8(_mm256_min_epu8(from_tab, breaks), from_tab);
      const __m256i letter = _mm256_cmpeq_epi8(_mm256_min_epu8(from_a, letters), from_a);
      const __m256i digit = _mm256_cmpeq_epi8(_mm256_min_epu8(from_zero, digits), from_zero);
      const __m256i quote = _mm256_cmpeq_epi8(x, apostrophe);
      const auto bits = [i](int mask) {
        return std::uint64_t{static_cast<std::uint32_t>(mask)} << i;
      };
      classes.letter |= bits(_mm256_movemask_epi8(letter));
      classes.number |= bits(_mm256_movemask_epi8(digit));
      classes.whitespace |= bits(_mm256_movemask_epi8(_mm256_or_si256(is_space, is_break)));
      classes.space |= bits(_mm256_movemask_epi8(is_space));
      classes.apostrophe |= bits(_mm256_movemask_epi8(quote));
      classes.beyond_ascii |= bits(_mm256_movemask_epi8(x));
    }
    *out = classes;
  }
}

/// Does the work of `classify_byte_level_plain` for `blocks` blocks with AVX-512.
SEQTRAIN_TEXT_AVX512 inline void classify_byte_level_avx512(const char* in, std::size_t blocks,
                                                            ByteLevelClasses* out) noexcept {
  const __m512i lower_case = _mm512_set1_epi8(0x20);
  const __m512i a = _mm512_set1_epi8('a'), letters = _mm512_set1_epi8('z' - 'a');
  const __m512i zero = _mm512_set1_epi8('0'), digits = _mm512_set1_epi8(9);
  const __m512i tab = _mm512_set1_epi8('\t'), breaks = _mm512_set1_epi8('\r' - '\t');
  const __m512i space = _mm512_set1_epi8(' '), apostrophe = _mm512_set1_epi8('\'');
  for (; blocks > 0; --blocks, in += 64, ++out) {
    const __m512i x = _mm512_loadu_si512(in);
    const __m512i lower = _mm512_or_si512(x, lower_case);
    out->letter = _mm512_cmple_epu8_mask(_mm512_sub_epi8(lower, a), letters);
    out->number = _mm512_cmple_epu8_mask(_mm512_sub_epi8(x, zero), digits);
    out->space = _mm512_cmpeq_epi8_mask(x, space);
    out->whitespace = out->space | _mm512_cmple_epu8_mask(_mm512_sub_epi8(x, tab), breaks);
    out->apostrophe = _mm512_cmpeq_epi8_mask(x, apostrophe);
    out->beyond_ascii = _mm512_movepi8_mask(x);
  }
}
#endif

/// Classifies `blocks` blocks of 64 bytes.
inline void classify_byte_level(const char* in, std::size_t blocks,
                                ByteLevelClasses* out) noexcept {
#if defined(__x86_64__)
  if (has_avx512()) return classify_byte_level_avx512(in, blocks, out);
  if (has_avx2()) return classify_byte_level_avx2(in, blocks, out);
#endif
  for (; blocks > 0; --blocks, in += 64, ++out) {
#if defined(__x86_64__)
    *out = classify_byte_level_sse2(in);
#else
    *out = classify_byte_level_plain(in);
#endif
  }
}

/// A chunk of text that is cut by a rule of `WordPattern`. It gives the words of
/// `ByteLevelSplitter`, by GPT-2's rule faster: all bytes of a character share its class, so word
/// boundaries follow from neighbouring bits. 16 bytes can be read from the start of any word.
class ByteLevelWords {
 public:
  static constexpr std::size_t chunk = 2048;

  /// Cuts words off the front of `text` and returns the number of bytes that they take. `text` must
  /// be valid UTF-8 and begin with a word. A word that may continue after the chunk is left for the
  /// next call. Returns 0 if the first word fills the chunk.
  std::size_t scan(std::string_view text, WordPattern pattern = WordPattern::gpt2) {
    if (pattern != WordPattern::gpt2) return scan_words(text, pattern);
    const std::size_t end = chunk_end(text);
    std::memcpy(bytes_.data(), text.data(), end);
    std::memset(bytes_.data() + end, 0, 64);
    classify(text, end);
    find_begins(end);
    find_contractions(text, end);
    list_begins(end);
    return end == text.size() ? end : begins_[--size_];
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
    return {bytes_.data() + begins_[i], static_cast<std::size_t>(begins_[i + 1] - begins_[i])};
  }
  [[nodiscard]] WordPositions positions() const noexcept {
    return {bytes_.data(), begins_.data(), begins_.data() + 1};
  }

 private:
  using Bits = std::uint64_t;

  /// The classes of non-ASCII characters, which the classes of single bytes do not tell.
  struct Wide {
    Bits tail = 0;   ///< bytes of a character except its first
    Bits begin = 0;  ///< whitespace that begins a word
  };

  /// Cuts words off the front of `text` one by one.
  std::size_t scan_words(std::string_view text, WordPattern pattern) {
    const std::size_t most = std::min(chunk, text.size());
    size_ = 0;
    begins_[0] = 0;
    for (std::size_t end = 0; end < most;) {
      end = ByteLevelSplitter::word_end(text, end, pattern);
      if (end <= most) begins_[++size_] = static_cast<std::uint16_t>(end);
    }
    const std::size_t done = begins_[size_];
    std::memcpy(bytes_.data(), text.data(), done);
    return done;
  }

  [[nodiscard]] static std::size_t chunk_end(std::string_view text) noexcept {
    if (text.size() <= chunk) return text.size();
    std::size_t end = chunk;
    while (is_continuation(text[end])) --end;
    return end;
  }

  [[nodiscard]] static Bits bit(std::size_t position) noexcept { return Bits{1} << position % 64; }

  void classify(std::string_view text, std::size_t end) {
    const std::size_t blocks = (end + 63) / 64;
    classify_byte_level(bytes_.data(), blocks, classes_.data());
    if (std::exchange(has_wide_, false)) wide_ = {};
    Bits beyond_ascii = 0;
    for (std::size_t i = 0; i < blocks; ++i) beyond_ascii |= classes_[i].beyond_ascii;
    if (beyond_ascii == 0) return;
    has_wide_ = true;
    for (std::size_t at = 0; (at = next_beyond_ascii(at, end)) < end;) {
      at = classify_character(text, at);
    }
  }

  [[nodiscard]] std::size_t next_beyond_ascii(std::size_t at, std::size_t end) const noexcept {
    Bits mask = ~Bits{0} << at % 64;
    for (std::size_t block = at / 64; block * 64 < end; ++block, mask = ~Bits{0}) {
      const Bits found = classes_[block].beyond_ascii & mask;
      if (found != 0) return block * 64 + static_cast<std::size_t>(std::countr_zero(found));
    }
    return end;
  }

  /// Gives all bytes of a non-ASCII character its class. Returns the end of the character.
  std::size_t classify_character(std::string_view text, std::size_t begin) {
    std::size_t end = begin;
    const auto properties = CharacterTable::instance().properties(decode(text, end));
    const bool whitespace = properties & CharacterTable::whitespace;
    for (std::size_t i = begin; i < end; ++i) {
      ByteLevelClasses& classes = classes_[i / 64];
      if (properties & CharacterTable::letter) classes.letter |= bit(i);
      if (properties & CharacterTable::number) classes.number |= bit(i);
      if (whitespace) classes.whitespace |= bit(i);
      if (i > begin) wide_[i / 64].tail |= bit(i);
    }
    if (whitespace && end < text.size()) {
      std::size_t next = end;
      if (!is_whitespace(decode(text, next))) wide_[begin / 64].begin |= bit(begin);
    }
    return end;
  }

  /// Finds the bytes at which words begin. A word begins at each change of class that does not
  /// follow a space. Whitespace begins a word at its first character and, unless the text ends
  /// there, at its last.
  void find_begins(std::size_t end) {
    static constexpr ByteLevelClasses nothing{};
    const ByteLevelClasses* before = &nothing;
    Bits other_before = 0;
    for (std::size_t at = 0; at < end; at += 64) {
      const ByteLevelClasses& here = classes_[at / 64];
      const ByteLevelClasses& prior = *before;
      const Wide& wide = wide_[at / 64];
      const auto previous = [](Bits bits, Bits earlier) { return bits << 1 | earlier >> 63; };
      const Bits other = ~(here.letter | here.number | here.whitespace);
      const Bits goes_on = (here.letter & previous(here.letter, prior.letter)) |
                           (here.number & previous(here.number, prior.number)) |
                           (other & previous(other, other_before)) |
                           (here.whitespace & previous(here.whitespace, prior.whitespace)) |
                           (~here.whitespace & previous(here.space, prior.space));
      const Bits last_whitespace =
          here.whitespace & ~wide.tail & ~next_whitespace(at, here.whitespace, end);
      begin_bits_[at / 64] = ~goes_on | last_whitespace | wide.begin;
      before = &here;
      other_before = other;
    }
    if (end % 64 != 0) begin_bits_[end / 64] &= bit(end) - 1;
  }

  /// Returns the bytes after which whitespace or the end of the chunk comes.
  [[nodiscard]] Bits next_whitespace(std::size_t at, Bits whitespace, std::size_t end) const {
    Bits next = whitespace >> 1;
    if (at + 64 < end) return next | classes_[at / 64 + 1].whitespace << 63;
    return next | bit(end - 1);
  }

  /// Merges an apostrophe that begins a word with the letters of a contraction after it.
  void find_contractions(std::string_view text, std::size_t end) {
    for (std::size_t at = 0; at < end; at += 64) {
      Bits found = classes_[at / 64].apostrophe & begin_bits_[at / 64];
      for (; found != 0; found &= found - 1) {
        const std::size_t begin = at + static_cast<std::size_t>(std::countr_zero(found));
        const std::size_t length = contraction_length(text, begin);
        if (length == 0) continue;
        begin_bits_[(begin + 1) / 64] &= ~bit(begin + 1);
        if (begin + length < end) begin_bits_[(begin + length) / 64] |= bit(begin + length);
      }
    }
  }

  /// Lists the positions at which words begin, and the end.
  void list_begins(std::size_t end) {
    std::uint16_t* const out =
        write_all_positions(begin_bits_.data(), (end + 63) / 64, begins_.data());
    *out = static_cast<std::uint16_t>(end);
    size_ = static_cast<std::size_t>(out - begins_.data());
  }

  std::array<char, chunk + 64> bytes_{};
  std::array<ByteLevelClasses, chunk / 64 + 1> classes_{};
  std::array<Wide, chunk / 64 + 1> wide_{};
  bool has_wide_ = false;  ///< `wide_` has set bits
  std::array<Bits, chunk / 64 + 1> begin_bits_{};
  std::array<std::uint16_t, chunk + 64> begins_{};
  std::size_t size_ = 0;
};

}  // namespace seqtrain::text
