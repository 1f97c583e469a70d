#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace seqtrain::text {

/// A stretch of a text between the normalizers and the model.
struct Piece {
  std::string_view text;
  std::size_t front = 0;  ///< bytes that come from the first character of the whole text

  /// Returns a part of the piece that begins `begin` bytes after its start.
  [[nodiscard]] Piece part(std::string_view part, std::size_t begin) const noexcept {
    return {part, front - std::min(front, begin)};
  }
  [[nodiscard]] Piece part(std::string_view part_of_text) const noexcept {
    return part(part_of_text, static_cast<std::size_t>(part_of_text.data() - text.data()));
  }
};

/// One thread's working memory for pre-tokenizers. It owns the texts that they change.
struct PieceScratch {
  std::vector<Piece> pieces;
  std::vector<Piece> next;
  std::vector<std::pair<std::string_view, bool>> matches;
  std::deque<std::string> texts;
};

}  // namespace seqtrain::text
