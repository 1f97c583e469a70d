#pragma once

#include <cstddef>
#include <cstdint>

#include <seqtrain/text/avx512.hpp>

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
#endif
  for (; blocks > 0; --blocks, in += 64, ++out) {
#if defined(__x86_64__)
    *out = classify_byte_level_sse2(in);
#else
    *out = classify_byte_level_plain(in);
#endif
  }
}

}  // namespace seqtrain::text
