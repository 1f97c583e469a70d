#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/utf8.hpp>

namespace seqtrain::text {

struct WordPieceOptions {
  std::string unknown_token = "[UNK]";
  std::string continuing_prefix = "##";  ///< marks pieces that do not begin a word
  std::size_t max_characters = 100;      ///< longer words are unknown
};

/// Cuts a word into the longest pieces that the vocabulary has, front to back; a word that cannot
/// be cut to its end is one unknown token.
class WordPiece {
 public:
  using Entry = std::pair<std::string_view, Id>;

  /// Where a token comes twice its last id counts. Throws `InputError` if the vocabulary lacks the
  /// unknown token.
  explicit WordPiece(std::span<const Entry> vocabulary, WordPieceOptions options = {})
      : options_{std::move(options)} {
    for (const auto& [token, id] : vocabulary) {
      ids_.insert_or_assign(std::string{token}, id);
      longest_ = std::max(longest_, token.size());
    }
    const auto unknown = ids_.find(options_.unknown_token);
    if (unknown == ids_.end()) {
      throw InputError{"the vocabulary has no unknown token " + options_.unknown_token};
    }
    unknown_id_ = unknown->second;
  }

  /// Appends the ids of `word`, which must be valid UTF-8.
  void encode_word(std::string_view word, std::vector<Id>& out) const {
    if (count_characters(word) > options_.max_characters) return out.push_back(unknown_id_);
    const std::size_t before = out.size();
    for (std::size_t begin = 0; begin < word.size();) {
      const std::size_t length = append_longest(word, begin, out);
      if (length == 0) {
        out.resize(before);
        return out.push_back(unknown_id_);
      }
      begin += length;
    }
  }

  [[nodiscard]] Id unknown_id() const noexcept { return unknown_id_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };

  /// Appends the id of the longest piece at `begin` and returns its bytes, 0 if there is none.
  std::size_t append_longest(std::string_view word, std::size_t begin, std::vector<Id>& out) const {
    std::string piece{begin > 0 ? options_.continuing_prefix : ""};
    const std::size_t prefix = piece.size();
    piece += word.substr(begin, longest_);
    for (; piece.size() > prefix; piece.pop_back()) {
      const std::size_t end = begin + piece.size() - prefix;
      if (end < word.size() && is_continuation(word[end])) continue;
      const auto found = ids_.find(piece);
      if (found == ids_.end()) continue;
      out.push_back(found->second);
      return piece.size() - prefix;
    }
    return 0;
  }

  WordPieceOptions options_;
  std::unordered_map<std::string, Id, Hash, std::equal_to<>> ids_;
  std::size_t longest_ = 0;  ///< bytes of the longest token
  Id unknown_id_ = 0;
};

}  // namespace seqtrain::text
