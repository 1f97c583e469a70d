#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <seqtrain/baseline/sparse_rows.hpp>

namespace seqtrain::baseline {

/// The rows of a matrix in tiles: so many rows with a piece of the columns each. The entries of a
/// tile lie together, so that a product of the matrix stays within the processor's caches.
class TiledRows {
 public:
  static constexpr std::size_t most_pieces = 16;
  static constexpr std::size_t rows_of_tile = 256;

  /// Takes the rows, each in ascending order of columns, and needs no second copy of them.
  TiledRows(SparseRows rows, std::size_t columns) : rows_{std::move(rows)}, columns_{0} {
    divide_columns(columns);
    begins_.reserve(tiles() * pieces() * (rows_of_tile + 1));
    std::vector<Entry> tile;
    for (std::size_t i = 0; i < tiles(); ++i) arrange(i, tile);
  }

  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] std::size_t columns() const { return columns_.back(); }
  [[nodiscard]] std::size_t entries() const { return rows_.entries(); }
  [[nodiscard]] std::size_t tiles() const { return (size() + rows_of_tile - 1) / rows_of_tile; }
  [[nodiscard]] std::size_t pieces() const { return columns_.size() - 1; }
  /// Returns the first column of a piece, or the number of columns for the piece after the last.
  [[nodiscard]] std::size_t first_column(std::size_t piece) const { return columns_[piece]; }

  /// Calls use(row, entries) for the rows of a tile, with the entries of this piece.
  template <class Use>
  void for_each(std::size_t tile, std::size_t piece, const Use& use) const {
    const std::size_t first = tile * rows_of_tile;
    const std::size_t end = std::min(size(), first + rows_of_tile);
    const std::size_t* begin = begins_.data() + (tile * pieces() + piece) * (rows_of_tile + 1);
    for (std::size_t row = first; row < end; ++row, ++begin) {
      use(row, rows_.all().subspan(begin[0], begin[1] - begin[0]));
    }
  }

 private:
  /// Divides the columns into pieces of about as many entries each.
  void divide_columns(std::size_t columns) {
    std::vector<std::size_t> entries(columns);
    for (const Entry& entry : rows_.all()) ++entries[entry.column];
    std::size_t before = 0;
    for (std::size_t column = 0; column + 1 < columns && columns_.size() < most_pieces; ++column) {
      before += entries[column];
      if (before * most_pieces >= columns_.size() * rows_.entries()) columns_.push_back(column + 1);
    }
    columns_.push_back(columns);
  }

  /// Moves the entries of a tile so that those of each piece lie together.
  void arrange(std::size_t tile, std::vector<Entry>& entries) {
    const std::size_t first = tile * rows_of_tile;
    const std::size_t end = std::min(size(), first + rows_of_tile);
    entries.clear();
    std::size_t begin = rows_.begin_of(first);
    const std::size_t first_entry = begin;
    for (std::size_t piece = 0; piece < pieces(); ++piece) {
      for (std::size_t row = first; row < first + rows_of_tile; ++row) {
        begins_.push_back(begin);
        if (row >= end) continue;
        const auto all = std::as_const(rows_)[row];
        const auto from = std::ranges::lower_bound(all, columns_[piece], {}, &Entry::column);
        const auto to = std::ranges::lower_bound(all, columns_[piece + 1], {}, &Entry::column);
        entries.insert(entries.end(), from, to);
        begin += static_cast<std::size_t>(to - from);
      }
      begins_.push_back(begin);
    }
    std::ranges::copy(entries, rows_.all().subspan(first_entry).begin());
  }

  SparseRows rows_;
  std::vector<std::size_t> columns_;  ///< the first column of each piece, and their number
  /// [tiles, pieces, rows_of_tile + 1], where the entries of each row begin
  std::vector<std::size_t> begins_;
};

}  // namespace seqtrain::baseline
