#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/text/models/wordpiece.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::tests {

/// WordPiece by its definition: at each place of a word it looks for the longest piece, beginning
/// with the whole rest, in a map of strings.
class PlainWordPiece {
 public:
  explicit PlainWordPiece(std::span<const text::WordPiece::Entry> vocabulary) {
    for (const auto& [token, id] : vocabulary) ids_.insert_or_assign(std::string{token}, id);
  }

  [[nodiscard]] std::vector<text::Id> encode(std::string_view word) const {
    const std::vector<text::Id> unknown{ids_.at("[UNK]")};
    if (text::count_characters(word) > 100) return unknown;
    std::vector<text::Id> result;
    for (std::size_t begin = 0; begin < word.size();) {
      std::size_t end = word.size();
      auto found = ids_.end();
      for (; end > begin; --end) {
        const std::string piece{word.substr(begin, end - begin)};
        found = ids_.find(begin > 0 ? "##" + piece : piece);
        if (found != ids_.end()) break;
      }
      if (found == ids_.end()) return unknown;
      result.push_back(found->second);
      begin = end;
    }
    return result;
  }

 private:
  std::map<std::string, text::Id> ids_;
};

}  // namespace seqtrain::tests
