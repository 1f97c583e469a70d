#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <seqtrain/data/batch.hpp>

namespace seqtrain::model::cpu {

[[nodiscard]] constexpr std::size_t round_up(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit * unit;
}

/// How a batch's tokens lie in the encoder's matrices: without padding, one sequence after another,
/// in groups of sequences. One thread takes a group through all layers; its rows end at a multiple
/// of `row_unit`, those that no token has being zero.
class Layout {
 public:
  static constexpr std::size_t row_unit = 16;
  static constexpr std::size_t group_rows = 96;  ///< at which a group is full

  struct Sequence {
    std::size_t row;      ///< of its first token
    std::size_t length;   ///< in tokens
    std::size_t squares;  ///< of the lengths before it, summed: where its scores begin
  };
  struct Group {
    std::size_t first;  ///< sequences first to end
    std::size_t end;
    std::size_t row;
    std::size_t rows;
  };

  explicit Layout(const data::Batch& batch) {
    std::size_t squares = 0;
    for (const std::int32_t tokens : batch.lengths) {
      const auto length = static_cast<std::size_t>(tokens);
      if (groups_.empty() || rows_ - groups_.back().row >= group_rows) open_group();
      sequences_.push_back({rows_, length, squares});
      rows_ += length;
      squares += length * length;
    }
    close_group();
    rows_ = round_up(rows_, 2 * row_unit);
  }

  [[nodiscard]] const std::vector<Sequence>& sequences() const { return sequences_; }
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  /// Of the matrices; a multiple of 32.
  [[nodiscard]] std::size_t rows() const { return rows_; }
  /// Of the largest group.
  [[nodiscard]] std::size_t most_rows() const {
    return std::ranges::max_element(groups_, {}, &Group::rows)->rows;
  }
  [[nodiscard]] std::size_t longest() const {
    return std::ranges::max_element(sequences_, {}, &Sequence::length)->length;
  }

 private:
  void open_group() {
    close_group();
    groups_.push_back({.first = sequences_.size(), .end = 0, .row = rows_, .rows = 0});
  }

  void close_group() {
    if (groups_.empty()) return;
    rows_ = round_up(rows_, row_unit);
    groups_.back().end = sequences_.size();
    groups_.back().rows = rows_ - groups_.back().row;
  }

  std::vector<Sequence> sequences_;
  std::vector<Group> groups_;
  std::size_t rows_ = 0;
};

}  // namespace seqtrain::model::cpu
