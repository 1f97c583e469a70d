#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <seqtrain/text/models/word_cache.hpp>
#include <seqtrain/text/normalizers/normalizers.hpp>
#include <seqtrain/text/pre_tokenizers/pre_tokenizers.hpp>
#include <seqtrain/text/unicode/graphemes.hpp>
#include <seqtrain/text/unicode/unicode.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// The stretches of a text between ASCII spaces, in batches.
class SpacedWords {
 public:
  static constexpr std::size_t batch = 32;

  /// Tells whether the stretches of a text can be encoded one by one, and how spaces are treated.
  struct Rule {
    bool cuts = false;
    bool drops_whitespace = false;   ///< all whitespace separates words and is no word itself
    bool joins_spaces = false;       ///< several spaces count as one
    bool keeps_first_spaces = true;  ///< keeps spaces before the first stretch
    bool keeps_last_spaces = true;   ///< keeps spaces after the last stretch
    std::string replacement = {};    ///< the character that Metaspace puts in place of a space
    NormalizerSequence local = {};   ///< the normalizers except those that strip the ends of a text

    /// Returns whether a stretch has equal ids alone and between spaces.
    [[nodiscard]] bool stands_alone(std::string_view raw, std::string_view normal) const {
      const Graphemes& graphemes = Graphemes::instance();
      const bool front_is_wide = static_cast<unsigned char>(raw.front()) >= 0x80;
      if (front_is_wide && graphemes.joins(U' ', first_of(raw))) return false;
      if (graphemes.joins(last_of(raw), U' ')) return false;
      if (drops_whitespace) return true;
      if (normal.empty() || normal.starts_with(replacement)) return false;
      const auto is_open = [](std::string_view text) {
        return is_whitespace(first_of(text)) || is_whitespace(last_of(text));
      };
      return !is_open(raw) && !is_open(normal);
    }
  };

  /// Returns the rule of a tokenizer that makes spaces visible and cuts before each. Its `cuts` is
  /// false if the parts do not allow stretches to be encoded one by one.
  static Rule rule(const NormalizerSequence& normalizers, const PreTokenizerSequence& splitters) {
    Rule rule;
    const auto& parts = splitters.parts();
    if (parts.empty() || parts.size() > 2) return rule;
    const auto* metaspace = std::get_if<Metaspace>(&parts.back());
    if (!metaspace || !metaspace->split || metaspace->scheme != Metaspace::Scheme::always) {
      return rule;
    }
    rule.replacement = metaspace->replacement;
    if (parts.size() == 2) {
      const auto* splitter = std::get_if<PatternSplitter>(&parts.front());
      if (!splitter || !splitter->drops_whitespace()) return rule;
      rule.drops_whitespace = rule.joins_spaces = true;
      rule.keeps_first_spaces = rule.keeps_last_spaces = false;
    }
    std::vector<Normalizer> local;
    for (const Normalizer& part : normalizers.parts()) {
      if (!allows(part, rule)) return rule;
      if (!std::holds_alternative<StripWhitespace>(part)) local.push_back(part);
    }
    rule.local = NormalizerSequence{std::move(local)};
    rule.cuts = true;
    return rule;
  }

  explicit SpacedWords(std::string_view text) : text_{text} {}

  /// Finds the next stretches. Returns false if there are none.
  bool next_batch() {
    is_first_batch_ = at_ == 0;
    size_ = 0;
    while (size_ < batch) {
      const std::size_t spaces_begin = at_;
      while (at_ < text_.size() && text_[at_] == ' ') ++at_;
      if (at_ == text_.size()) {
        spaces_after_ += at_ - spaces_begin;
        break;
      }
      spaces_[size_] = at_ - spaces_begin;
      begins_[size_] = at_;
      at_ = find_space(at_);
      ends_[size_++] = at_;
    }
    count_ += size_;
    return size_ > 0;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
    return {text_.data() + begins_[i], ends_[i] - begins_[i]};
  }
  /// Returns the number of spaces before a word.
  [[nodiscard]] std::size_t spaces_before(std::size_t i) const noexcept { return spaces_[i]; }
  /// Tells whether a word is the first of its text.
  [[nodiscard]] bool is_first(std::size_t i) const noexcept { return is_first_batch_ && i == 0; }
  [[nodiscard]] std::size_t spaces_after() const noexcept { return spaces_after_; }

  /// Returns the key of a word in a `WordCache`.
  [[nodiscard]] WordKey key(std::size_t i) const noexcept {
    const auto word = (*this)[i];
    if (begins_[i] + 16 <= text_.size()) return WordKey::of_padded(word);
    if (word.size() <= WordKey::max_bytes) return WordKey::of(word);
    return WordKey::of_padded(word);
  }

 private:
  static char32_t first_of(std::string_view text) {
    std::size_t i = 0;
    return decode(text, i);
  }

  static char32_t last_of(std::string_view text) {
    std::size_t i = text.size() - 1;
    while (is_continuation(text[i])) --i;
    return decode(text, i);
  }

  static bool has_whitespace(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
      if (is_whitespace(decode(text, i))) return true;
    }
    return false;
  }

  /// Returns whether a normalizer keeps spaces and treats the text on either side independently.
  static bool allows(const Normalizer& part, Rule& rule) {
    if (std::holds_alternative<Prepend>(part)) return false;
    if (const auto* map = std::get_if<CharacterMap>(&part)) return !map->find(" ");
    if (const auto* strip = std::get_if<StripWhitespace>(&part)) {
      if (strip->left) rule.keeps_first_spaces = false;
      if (strip->right) rule.keeps_last_spaces = false;
      return true;
    }
    const auto* replace = std::get_if<Replace>(&part);
    if (!replace) return true;
    if (replace->pattern == Replace::Pattern::text) {
      return !has_whitespace(replace->text_pattern) && !has_whitespace(replace->content);
    }
    rule.joins_spaces = true;
    return replace->content == " ";
  }

  /// Returns the position of the next space, or the end of the text.
  [[nodiscard]] std::size_t find_space(std::size_t at) const noexcept {
    constexpr std::uint64_t ones = 0x0101010101010101, highs = 0x8080808080808080;
    while (at + 8 <= text_.size()) {
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, text_.data() + at, sizeof bytes);
      bytes ^= ones * ' ';
      const std::uint64_t found = (bytes - ones) & ~bytes & highs;
      if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found)) / 8;
      at += 8;
    }
    while (at < text_.size() && text_[at] != ' ') ++at;
    return at;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  std::size_t count_ = 0;
  std::size_t spaces_after_ = 0;
  bool is_first_batch_ = true;
  std::array<std::size_t, batch> spaces_{};
  std::array<std::size_t, batch> begins_{};
  std::array<std::size_t, batch> ends_{};
};

}  // namespace seqtrain::text
