#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/models/double_array.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// A piece of a SentencePiece model. Its id is its index in the model.
struct SentencePiece {
  /// The kind of a piece, by its number in the model file.
  enum class Type { normal = 1, unknown, control, user_defined, unused, byte };

  std::string text = {};
  float score = 0;
  Type type = Type::normal;
};

/// A stretch of a text and its id.
struct PieceOfText {
  std::string_view text;
  Id id;
};

/// The pieces of a SentencePiece model and the indexes that find them.
class SentencePieces {
 public:
  using Type = SentencePiece::Type;
  static constexpr std::size_t longest_piece =
      7999;  ///< the most bytes of a piece, as in SentencePiece

  /// Throws `InputError` that names the piece if the pieces contradict each other.
  SentencePieces(std::vector<SentencePiece> pieces, bool byte_fallback)
      : pieces_{std::move(pieces)},
        byte_fallback_{byte_fallback},
        unknown_{check()},
        trie_{strings([](Type type) {
          return type == Type::normal || type == Type::user_defined || type == Type::unused;
        })},
        symbols_{strings([](Type type) { return type == Type::user_defined; })} {
    const auto is = [](Type type) {
      return [type](const SentencePiece& piece) { return piece.type == type; };
    };
    has_symbols_ = std::ranges::any_of(pieces_, is(Type::user_defined));
    if (byte_fallback_) find_bytes();
  }

  [[nodiscard]] const SentencePiece& operator[](Id id) const {
    return pieces_[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] std::size_t size() const noexcept { return pieces_.size(); }
  [[nodiscard]] const std::vector<SentencePiece>& all() const noexcept { return pieces_; }
  [[nodiscard]] Id unknown() const noexcept { return unknown_; }

  /// Returns the trie of the pieces that a text can be cut into.
  [[nodiscard]] const DoubleArray& trie() const noexcept { return trie_; }

  /// Returns the length in bytes of the longest user-defined symbol that `text` begins with, or 0.
  [[nodiscard]] std::size_t symbol_prefix(std::string_view text) const noexcept {
    return has_symbols_ ? symbols_.longest_prefix(text) : 0;
  }

  /// Returns the id of a piece of any type, or `DoubleArray::no_id`, by a linear search.
  [[nodiscard]] Id find(std::string_view text) const {
    const auto found = std::ranges::find(pieces_, text, &SentencePiece::text);
    return found == pieces_.end() ? DoubleArray::no_id : static_cast<Id>(found - pieces_.begin());
  }

  /// Appends the ids of a cut text. Neighbouring unknown stretches become one unknown piece, or
  /// with byte fallback the pieces of their bytes.
  void append_ids(const std::vector<PieceOfText>& cut, std::vector<Id>& out) const {
    bool after_unknown = false;
    for (const auto& [text, id] : cut) {
      const bool is_unknown = id == unknown_;
      if (is_unknown && byte_fallback_) {
        for (const char c : text) out.push_back(bytes_[static_cast<unsigned char>(c)]);
      } else if (!is_unknown || !after_unknown) {
        out.push_back(id);
      }
      after_unknown = is_unknown;
    }
  }

 private:
  template <class Fn>
  [[nodiscard]] std::vector<std::pair<std::string_view, Id>> strings(const Fn& takes) const {
    std::vector<std::pair<std::string_view, Id>> strings;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const auto& piece = pieces_[i];
      if (takes(piece.type)) strings.emplace_back(piece.text, static_cast<Id>(i));
    }
    return strings;
  }

  /// Checks the pieces and returns the id of the unknown piece.
  [[nodiscard]] Id check() const {
    std::unordered_set<std::string_view> seen;
    Id unknown = DoubleArray::no_id;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const auto refuse = [&](const std::string& problem) {
        throw InputError{"piece " + std::to_string(i) + " " + problem};
      };
      const auto& [text, score, type] = pieces_[i];
      if (text.empty()) refuse("is empty");
      if (text.size() > longest_piece) refuse("is longer than 7,999 bytes");
      if (!is_valid_utf8(text)) refuse("is not UTF-8");
      if (text.find('\0') != text.npos) refuse("has a zero byte");
      if (!std::isfinite(score)) refuse("\"" + text + "\" has a score that is not a finite number");
      if (!seen.insert(text).second) refuse("\"" + text + "\" is repeated");
      if (type != Type::unknown) continue;
      if (unknown != DoubleArray::no_id) refuse("\"" + text + "\" is a second unknown piece");
      unknown = static_cast<Id>(i);
    }
    if (unknown == DoubleArray::no_id) throw InputError{"has no unknown piece"};
    return unknown;
  }

  void find_bytes() {
    constexpr std::string_view digits = "0123456789ABCDEF";
    bytes_.fill(DoubleArray::no_id);
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const std::string& text = pieces_[i].text;
      if (pieces_[i].type != Type::byte || text.size() != 6) continue;
      const std::size_t byte = digits.find(text[3]) * 16 + digits.find(text[4]);
      if (text.starts_with("<0x") && text.ends_with('>') && byte < bytes_.size()) {
        bytes_[byte] = static_cast<Id>(i);
      }
    }
    const auto missing = std::ranges::find(bytes_, DoubleArray::no_id);
    if (missing == bytes_.end()) return;
    throw InputError{"has no piece for byte " + std::to_string(missing - bytes_.begin()) +
                     ", which byte fallback needs"};
  }

  std::vector<SentencePiece> pieces_;
  bool byte_fallback_;
  Id unknown_;
  DoubleArray trie_;
  DoubleArray symbols_;
  bool has_symbols_ = false;
  std::array<Id, 256> bytes_{};
};

}  // namespace seqtrain::text
