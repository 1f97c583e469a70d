#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/text/models/sentence_pieces.hpp>
#include <seqtrain/text/normalizers/character_map.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// The settings of a SentencePiece model's normalizer.
struct SentencePieceRules {
  std::optional<CharacterMap> characters = {};
  /// Puts a space at the front, or at the back if the model marks suffixes.
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;  ///< drops spaces at the ends and joins spaces elsewhere
  bool escape_whitespaces = true;        ///< turns a space into U+2581
  bool whitespace_is_suffix = false;
};

/// Makes a text's normal form as SentencePiece does. User-defined symbols stay unchanged.
class SentencePieceNormalizer {
 public:
  SentencePieceNormalizer(SentencePieceRules rules, const SentencePieces& pieces)
      : rules_{std::move(rules)} {
    for (std::size_t byte = 1; byte < plain_.size(); ++byte) {
      const char c = static_cast<char>(byte);
      plain_[byte] = c != ' ' && !(rules_.characters && rules_.characters->has_rules_from(c));
    }
    for (const auto& piece : pieces.all()) {
      if (piece.type != SentencePiece::Type::user_defined) continue;
      const auto lead = static_cast<unsigned char>(piece.text[0]);
      if (lead < plain_.size()) plain_[lead] = false;
    }
  }

  /// Appends the normal form of `text`, which must be valid UTF-8.
  void normalize(std::string_view text, const SentencePieces& pieces, std::string& out) const {
    const bool trims = rules_.remove_extra_whitespaces;
    while (trims && !text.empty()) {
      const Step step = first_step(text, pieces);
      if (step.becomes != " ") break;
      text.remove_prefix(step.size);
    }
    if (text.empty()) return;
    const std::size_t begin = out.size();
    if (rules_.add_dummy_prefix && !rules_.whitespace_is_suffix) out += space();
    add(text, pieces, out);
    while (trims && std::string_view{out}.substr(begin).ends_with(space())) {
      out.erase(out.size() - space().size());
    }
    if (rules_.add_dummy_prefix && rules_.whitespace_is_suffix) out += space();
  }

 private:
  struct Step {
    std::string_view becomes;
    std::size_t size;  ///< bytes of the text that it replaces
  };

  [[nodiscard]] std::string_view space() const noexcept {
    return rules_.escape_whitespaces ? "\u2581" : " ";
  }

  [[nodiscard]] Step first_step(std::string_view text, const SentencePieces& pieces) const {
    if (const std::size_t size = pieces.symbol_prefix(text)) return {text.substr(0, size), size};
    if (rules_.characters) {
      if (const auto match = rules_.characters->find_prefix(text, false)) {
        return {match->result, match->size};
      }
    }
    // A rule has replaced a part of a character.
    if (is_continuation(text[0])) return {"\uFFFD", 1};
    const std::size_t size = utf8_length(text[0]);
    return {text.substr(0, size), size};
  }

  void add(std::string_view text, const SentencePieces& pieces, std::string& out) const {
    bool after_space = rules_.remove_extra_whitespaces;
    while (!text.empty()) {
      if (const std::size_t size = plain_length(text)) {
        out += text.substr(0, size);
        text.remove_prefix(size);
        after_space = false;
        continue;
      }
      Step step = first_step(text, pieces);
      text.remove_prefix(step.size);
      while (after_space && step.becomes.starts_with(' ')) step.becomes.remove_prefix(1);
      if (step.becomes.empty()) continue;
      for (const char c : step.becomes) {
        if (c == ' ') {
          out += space();
        } else {
          out.push_back(c);
        }
      }
      after_space = rules_.remove_extra_whitespaces && step.becomes.ends_with(' ');
    }
  }

  /// Returns the number of bytes at the front of a text that stay unchanged.
  [[nodiscard]] std::size_t plain_length(std::string_view text) const noexcept {
    std::size_t size = 0;
    while (size < text.size()) {
      const auto byte = static_cast<unsigned char>(text[size]);
      if (byte >= plain_.size() || !plain_[byte]) break;
      ++size;
    }
    return size;
  }

  SentencePieceRules rules_;
  std::array<bool, 128> plain_{};  ///< ASCII characters that no rule begins with
};

}  // namespace seqtrain::text
