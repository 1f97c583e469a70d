#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include <seqtrain/text/models/word_cache.hpp>
#include <seqtrain/text/pre_tokenizers/bit_positions.hpp>
#include <seqtrain/text/pre_tokenizers/byte_level.hpp>
#include <seqtrain/text/pre_tokenizers/byte_level_classes.hpp>
#include <seqtrain/text/unicode/unicode.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// A chunk of text that is cut by GPT-2's rule. It gives the words of `ByteLevelSplitter` faster:
/// all bytes of a character share its class, so word boundaries follow from neighbouring bits. 16
/// bytes can be read from the start of any word.
class ByteLevelWords {
 public:
  static constexpr std::size_t chunk = 2048;

  /// Cuts words off the front of `text` and returns the number of bytes that they take. `text` must
  /// be valid UTF-8 and begin with a word. A word that may continue after the chunk is left for the
  /// next call. Returns 0 if the first word fills the chunk.
  std::size_t scan(std::string_view text) {
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
