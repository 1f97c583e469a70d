#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/text/avx512.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/unicode/unicode.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// A token that is found as a whole before the text is split into words. It is looked for in the
/// raw text, or in the normal form of the text if `normalized` is set.
struct AddedToken {
  std::string content;
  Id id = 0;
  bool single_word = false;  ///< it matches only if no word character touches it
  bool lstrip = false;       ///< it also takes the whitespace before it
  bool rstrip = false;       ///< it also takes the whitespace after it
  bool normalized = false;   ///< its normal form is looked for in the normalized text
  bool stays_text = false;   ///< it is found, and then encoded like other text
};

/// A stretch of plain text, or an added token if `id` has a value.
struct Segment {
  std::string_view text;
  std::optional<Id> id;
};

/// Finds added tokens in a text from left to right. At each place the longest match wins.
class AddedTokens {
 public:
  AddedTokens() = default;
  explicit AddedTokens(std::vector<AddedToken> tokens) : tokens_{std::move(tokens)} {
    std::erase_if(tokens_, [](const AddedToken& token) { return token.content.empty(); });
    std::ranges::stable_sort(tokens_, [](const AddedToken& a, const AddedToken& b) {
      if (a.content[0] != b.content[0]) return lead(a.content) < lead(b.content);
      return a.content.size() > b.content.size();
    });
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      Range& range = by_lead_[lead(tokens_[i].content)];
      if (range.begin == range.end) range.begin = i;
      range.end = i + 1;
    }
    if (!tokens_.empty() && lead(tokens_.front().content) == lead(tokens_.back().content)) {
      only_lead_ = tokens_.front().content[0];
    }
    list_openings();
    for (const AddedToken& token : tokens_) {
      if (token.content.size() == 1) seconds_.set();
      if (token.content.size() > 1) seconds_.set(lead(std::string_view{token.content}.substr(1)));
    }
  }

  [[nodiscard]] bool empty() const noexcept { return tokens_.empty(); }

  /// Returns whether any added token occurs in the text.
  [[nodiscard]] bool contained_in(std::string_view text) const {
    for (std::size_t at = 0; (at = next_candidate(text, at)) < text.size(); ++at) {
      if (match(text, at)) return true;
    }
    return false;
  }

  /// Returns whether any added token contains whitespace.
  [[nodiscard]] bool have_whitespace() const {
    return std::ranges::any_of(tokens_, [](const AddedToken& token) {
      for (std::size_t i = 0; i < token.content.size();) {
        if (is_whitespace(decode(token.content, i))) return true;
      }
      return false;
    });
  }

  /// Calls `fn(Segment)` in order for each added token and for each stretch between them, until it
  /// returns false. No segment is empty. Returns false if a call returned false.
  template <class Fn>
  bool split(std::string_view text, Fn&& fn) const {
    std::size_t done = 0;
    for (std::size_t at = 0; (at = next_candidate(text, at)) < text.size();) {
      const AddedToken* token = match(text, at);
      if (!token) {
        ++at;
        continue;
      }
      std::size_t begin = at;
      at += token->content.size();
      if (token->stays_text || (token->single_word && touches_word(text, begin, at))) continue;
      if (token->lstrip) begin = std::max(strip_end(text.substr(0, begin)), done);
      if (done < begin && !fn(Segment{text.substr(done, begin - done), {}})) return false;
      done = token->rstrip ? strip_begin(text, at) : at;
      if (begin >= done) continue;  // the token before it took all of its whitespace
      if (!fn(Segment{text.substr(begin, done - begin), token->id})) return false;
    }
    return done >= text.size() || fn(Segment{text.substr(done), {}});
  }

 private:
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  static std::size_t lead(std::string_view content) {
    return static_cast<unsigned char>(content.front());
  }

  /// Lists the first bytes of the tokens. If all tokens with a first byte have the same second
  /// byte, the list holds that one as well.
  void list_openings() {
    for (const AddedToken& token : tokens_) {
      const bool has_second = token.content.size() > 1;
      const auto known = std::ranges::find(openings_, token.content[0], &Opening::first);
      if (known == openings_.end()) {
        openings_.push_back({token.content[0], has_second ? token.content[1] : '\0', has_second});
      } else if (!has_second || token.content[1] != known->second) {
        known->has_second = false;
      }
    }
  }

#if defined(__x86_64__)
  /// Returns the first of 16 places at which a token may begin, or 16 if there is none. Reads 17
  /// bytes.
  [[nodiscard]] std::size_t first_opening(const char* block) const noexcept {
    const auto load = [](const char* at) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    };
    const __m128i here = load(block);
    const __m128i next = load(block + 1);
    __m128i found = _mm_setzero_si128();
    for (const Opening& opening : openings_) {
      __m128i begins = _mm_cmpeq_epi8(here, _mm_set1_epi8(opening.first));
      if (opening.has_second) {
        begins = _mm_and_si128(begins, _mm_cmpeq_epi8(next, _mm_set1_epi8(opening.second)));
      }
      found = _mm_or_si128(found, begins);
    }
    const auto bits = static_cast<unsigned>(_mm_movemask_epi8(found));
    return static_cast<std::size_t>(std::countr_zero(bits | 0x10000u));
  }

  /// Does the work of `skip` with AVX-512.
  [[nodiscard]] SEQTRAIN_TEXT_AVX512 std::size_t skip_avx512(std::string_view text,
                                                             std::size_t at) const noexcept {
    for (; at < text.size(); at += 64) {
      const auto left = static_cast<unsigned>(std::min<std::size_t>(65, text.size() - at));
      const std::uint64_t inside = _bzhi_u64(~std::uint64_t{0}, left);
      const __m512i here = _mm512_maskz_loadu_epi8(inside, text.data() + at);
      const __m512i next =
          _mm512_maskz_loadu_epi8(_bzhi_u64(~std::uint64_t{0}, left - 1), text.data() + at + 1);
      std::uint64_t found = 0;
      for (const Opening& opening : openings_) {
        const std::uint64_t firsts =
            _mm512_mask_cmpeq_epi8_mask(inside, here, _mm512_set1_epi8(opening.first));
        if (!opening.has_second) found |= firsts;
        found |= _mm512_mask_cmpeq_epi8_mask(firsts, next, _mm512_set1_epi8(opening.second));
      }
      if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found));
    }
    return text.size();
  }
#endif

  /// Returns a place from `at` on. No token begins between `at` and that place.
  [[nodiscard]] std::size_t skip([[maybe_unused]] std::string_view text,
                                 std::size_t at) const noexcept {
#if defined(__x86_64__)
    if (openings_.size() > 6) return at;
    if (has_avx512()) return skip_avx512(text, at);
    for (; at + 17 <= text.size(); at += 16) {
      if (const std::size_t first = first_opening(text.data() + at); first < 16) return at + first;
    }
    std::array<char, 32> rest{};
    std::memcpy(rest.data(), text.data() + at, text.size() - at);
    return std::min(text.size(), at + first_opening(rest.data()));
#else
    return at;
#endif
  }

  /// Returns the next place that holds the first byte of a token.
  [[nodiscard]] std::size_t next_candidate(std::string_view text, std::size_t at) const {
    if (tokens_.empty()) return text.size();
    if (only_lead_) return std::min(text.find(*only_lead_, at), text.size());
    at = skip(text, at);
    while (at < text.size() && by_lead_[lead(text.substr(at))].end == 0) ++at;
    return at;
  }

  [[nodiscard]] const AddedToken* match(std::string_view text, std::size_t at) const {
    if (at + 1 < text.size() && !seconds_[lead(text.substr(at + 1))]) return nullptr;
    const Range range = by_lead_[lead(text.substr(at))];
    for (std::size_t i = range.begin; i < range.end; ++i) {
      if (text.substr(at).starts_with(tokens_[i].content)) return &tokens_[i];
    }
    return nullptr;
  }

  [[nodiscard]] static bool touches_word(std::string_view text, std::size_t begin,
                                         std::size_t end) {
    if (begin > 0) {
      std::size_t previous = character_before(text, begin);
      if (is_word_character(decode(text, previous))) return true;
    }
    return end < text.size() && is_word_character(decode(text, end));
  }

  /// Returns the position at which the whitespace at the end of `text` begins.
  [[nodiscard]] static std::size_t strip_end(std::string_view text) {
    std::size_t end = text.size();
    while (end > 0) {
      const std::size_t begin = character_before(text, end);
      std::size_t position = begin;
      if (!is_whitespace(decode(text, position))) break;
      end = begin;
    }
    return end;
  }

  /// Returns the position at which the whitespace at `position` ends.
  [[nodiscard]] static std::size_t strip_begin(std::string_view text, std::size_t position) {
    for (std::size_t next = position; next < text.size(); position = next) {
      if (!is_whitespace(decode(text, next))) break;
    }
    return position;
  }

  [[nodiscard]] static std::size_t character_before(std::string_view text, std::size_t end) {
    do {
      --end;
    } while (is_continuation(text[end]));
    return end;
  }

  struct Opening {
    char first;
    char second;
    bool has_second;
  };

  std::vector<Opening> openings_;
  std::vector<AddedToken> tokens_;      ///< sorted by first byte, the longest first
  std::array<Range, 256> by_lead_{};    ///< the range of `tokens_` for each first byte
  std::bitset<256> seconds_;            ///< the second bytes; all bytes if a token has one byte
  std::optional<char> only_lead_ = {};  ///< the first byte, if all tokens share it
};

}  // namespace seqtrain::text
