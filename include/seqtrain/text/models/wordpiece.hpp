#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/models/piece_table.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// Options of `WordPiece`.
struct WordPieceOptions {
  std::string unknown_token = "[UNK]";
  std::string continuing_prefix = "##";  ///< marks pieces that do not begin a word
  std::size_t max_characters = 100;      ///< longer words are unknown
};

/// Cuts a word from left to right into the longest pieces of the vocabulary. A word that cannot be
/// cut up to its end becomes one unknown token.
class WordPiece {
 public:
  using Entry = std::pair<std::string_view, Id>;

  /// Tokens must be valid UTF-8. If a token is repeated its last id counts. Throws `InputError` if
  /// the vocabulary lacks the unknown token.
  explicit WordPiece(std::span<const Entry> vocabulary, const WordPieceOptions& options = {})
      : max_characters_{options.max_characters},
        beginning_{vocabulary.size()},
        continuing_{
            static_cast<std::size_t>(std::ranges::count_if(vocabulary, [&](const Entry& entry) {
              return entry.first.starts_with(options.continuing_prefix);
            }))} {
    std::optional<Id> unknown;
    for (const auto& [token, id] : vocabulary) {
      beginning_.insert(token, id);
      if (token.starts_with(options.continuing_prefix)) {
        continuing_.insert(token.substr(options.continuing_prefix.size()), id);
      }
      if (token == options.unknown_token) unknown = id;
    }
    if (!unknown) throw InputError{"the vocabulary has no unknown token " + options.unknown_token};
    unknown_id_ = *unknown;
  }

  /// Appends the ids of `word`, which must be valid UTF-8.
  void encode_word(std::string_view word, std::vector<Id>& out) const {
    if (is_long(word)) return out.push_back(unknown_id_);
    const std::size_t before = out.size();
    const PieceTable* table = &beginning_;
    while (!word.empty()) {
      const auto [size, id] = table->longest_prefix(word);
      if (size == 0) {
        out.resize(before);
        return out.push_back(unknown_id_);
      }
      out.push_back(id);
      word.remove_prefix(size);
      table = &continuing_;
    }
  }

  /// Returns the number of bytes of a word that a token stands for. `first` tells that it begins
  /// the word.
  [[nodiscard]] static std::size_t bytes_of(std::string_view token, bool first) {
    return token.size() - (!first && token.starts_with("##") ? 2 : 0);
  }

 private:
  [[nodiscard]] bool is_long(std::string_view word) const noexcept {
    return word.size() > max_characters_ && count_characters(word) > max_characters_;
  }

  std::size_t max_characters_;
  PieceTable beginning_;
  PieceTable continuing_;
  Id unknown_id_ = 0;
};

}  // namespace seqtrain::text
