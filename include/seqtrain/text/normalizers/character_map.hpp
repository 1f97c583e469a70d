#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/text/unicode/graphemes.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// SentencePiece's compiled normalization rules: a trie as a double array (Aoe 1989) in the layout
/// of darts-clone, and the replacements, each ended by a zero byte. The trie's values are offsets
/// of replacements.
class CharacterMap {
 public:
  /// Throws `InputError` if a node or a value points outside the map.
  explicit CharacterMap(std::string_view bytes) {
    static_assert(std::endian::native == std::endian::little);
    std::uint32_t size = 0;
    if (bytes.size() <= sizeof size) throw damaged("it is too short");
    std::memcpy(&size, bytes.data(), sizeof size);
    bytes.remove_prefix(sizeof size);
    if (size == 0 || size % 4 != 0 || size > bytes.size()) throw damaged("its size is wrong");
    units_.resize(size / 4);
    std::memcpy(units_.data(), bytes.data(), size);
    strings_ = bytes.substr(size);
    if (!is_valid_utf8(strings_)) throw damaged("its strings are not UTF-8");
    for (std::size_t i = 0; i < units_.size(); ++i) check(i);
  }

  /// Returns the replacement of the shortest prefix of `text` that has a rule, or nothing if no
  /// prefix has one. The view is valid as long as the map.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view text) const noexcept {
    const auto match = find_prefix(text, true);
    return match ? std::optional{match->result} : std::nullopt;
  }

  /// A prefix that has a rule: its size in bytes, and what replaces it.
  struct Match {
    std::size_t size;
    std::string_view result;
  };

  /// Returns the shortest or the longest prefix of `text` that has a rule.
  [[nodiscard]] std::optional<Match> find_prefix(std::string_view text,
                                                 bool shortest) const noexcept {
    std::optional<Match> found;
    std::size_t at = offset(units_[0]);
    for (std::size_t i = 0; i < text.size() && text[i] != '\0'; ++i) {
      const auto label = static_cast<unsigned char>(text[i]);
      at ^= label;
      if (at >= units_.size()) break;
      const std::uint32_t unit = units_[at];
      if ((unit & (leaf | 0xFF)) != label) break;
      at ^= offset(unit);
      if ((unit & has_value) == 0) continue;
      found = Match{i + 1, string_at(units_[at] & ~leaf)};
      if (shortest) break;
    }
    return found;
  }

  /// Returns whether any rule begins with this byte.
  [[nodiscard]] bool has_rules_from(char byte) const noexcept {
    const auto label = static_cast<unsigned char>(byte);
    const std::size_t at = offset(units_[0]) ^ label;
    return at < units_.size() && (units_[at] & (leaf | 0xFF)) == label;
  }

  /// Appends the normal form of `text` as Hugging Face's `Precompiled` does. A grapheme of fewer
  /// than six bytes is replaced by the rule for its shortest prefix. If there is no such rule, or
  /// the grapheme is longer, each of its characters is replaced alone.
  void normalize(std::string_view text, std::string& out) const {
    for_each_part(text, [&](std::string_view, std::string_view normal) {
      if (normal.size() == 1) return out.push_back(normal[0]);
      out += normal;
    });
  }

  /// Calls `fn(part, normal form)` for each stretch of `text` that is normalized as a whole.
  template <class Fn>
  void for_each_part(std::string_view text, Fn&& fn) const {
    for (std::size_t i = 0; i < text.size();) {
      if (is_plain(text, i)) {
        fn(text.substr(i, 1), text.substr(i, 1));
        ++i;
        continue;
      }
      const std::size_t end = Graphemes::instance().end(text, i);
      for_each_part_of(text.substr(i, end - i), fn);
      i = end;
    }
  }

 private:
  static constexpr std::uint32_t leaf = std::uint32_t{1} << 31;
  static constexpr std::uint32_t has_value = 1 << 8;
  static constexpr std::uint32_t scaled = 1 << 9;

  static InputError damaged(const std::string& how) {
    return InputError{"the character map is damaged: " + how};
  }

  static std::size_t offset(std::uint32_t unit) noexcept {
    return std::size_t{unit} >> 10 << ((unit & scaled) >> 6);
  }

  void check(std::size_t i) const {
    if ((units_[i] & leaf) != 0 || (units_[i] & has_value) == 0) return;
    const std::size_t next = i ^ offset(units_[i]);
    if (next >= units_.size()) throw damaged("a node points outside it");
    const std::size_t value = units_[next] & ~leaf;
    if (value >= strings_.size() || is_continuation(strings_[value])) {
      throw damaged("a value points outside its strings");
    }
    if (strings_.find('\0', value) == std::string::npos) throw damaged("a string has no end");
  }

  [[nodiscard]] std::string_view string_at(std::size_t value) const noexcept {
    return strings_.c_str() + value;
  }

  /// Returns whether a character is ASCII, is a grapheme by itself and has no rule.
  [[nodiscard]] bool is_plain(std::string_view text, std::size_t i) const noexcept {
    const auto ascii = [&](std::size_t at) { return static_cast<unsigned char>(text[at]) < 0x80; };
    if (!ascii(i) || (i + 1 < text.size() && !ascii(i + 1)) || text[i] == '\r') return false;
    return !find(text.substr(i, 1));
  }

  template <class Fn>
  void for_each_part_of(std::string_view grapheme, const Fn& fn) const {
    if (grapheme.size() < 6) {
      if (const auto found = find(grapheme)) return void(fn(grapheme, *found));
    }
    for (std::size_t i = 0; i < grapheme.size();) {
      const auto character = grapheme.substr(i, utf8_length(grapheme[i]));
      fn(character, find(character).value_or(character));
      i += character.size();
    }
  }

  std::vector<std::uint32_t> units_;
  std::string strings_;
};

}  // namespace seqtrain::text
