#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/cpu/buffer.hpp>

namespace seqtrain::model::cpu {

/// The order of a batch's tokens in the encoder's matrices: one sequence after another without
/// padding, in groups of sequences. A group's rows are filled up with zeros to a multiple of a
/// unit. The tokens are divided into an even number of equal shares, and the sequences with their
/// middles in one share form a group. The groups do not depend on the number of threads, so the
/// results do not either.
class Layout {
 public:
  static constexpr std::size_t matrix_unit = 32;  ///< a matrix has a multiple of this many rows
  static constexpr std::size_t group_rows = 128;  ///< a group has about this many rows

  /// The place of a sequence in the rows of a batch.
  struct Sequence {
    std::size_t row;      ///< row of its first token
    std::size_t length;   ///< number of tokens
    std::size_t squares;  ///< sum of the squared lengths before it: the index of its first score
  };
  /// Consecutive sequences that one thread computes together, and their rows.
  struct Group {
    std::size_t first;  ///< sequences first to end
    std::size_t end;
    std::size_t row;
    std::size_t rows;
  };

  /// Groups that one thread computes together through all layers. Reading the weights takes a
  /// smaller share of the time if a run has more rows.
  struct Run {
    std::size_t first;  ///< groups first to end
    std::size_t end;
    std::size_t row;
    std::size_t rows;
  };

  Layout(const data::Batch& batch, std::size_t row_unit) : row_unit_{row_unit} {
    const auto tokens = static_cast<std::size_t>(batch.tokens());
    const std::size_t shares = 2 * std::max<std::size_t>(1, (tokens / group_rows + 1) / 2);
    std::size_t before = 0;  // tokens of the sequences before
    std::size_t share = 0;
    std::size_t squares = 0;
    for (const std::int32_t number : batch.lengths) {
      const auto length = static_cast<std::size_t>(number);
      const std::size_t mine = (2 * before + length) * shares / (2 * tokens + 1);  // of its middle
      if (groups_.empty() || mine != share) open_group();
      share = mine;
      sequences_.push_back({rows_, length, squares});
      before += length;
      rows_ += length;
      squares += length * length;
    }
    close_group();
    rows_ = round_up(rows_, matrix_unit);
  }

  [[nodiscard]] const std::vector<Sequence>& sequences() const { return sequences_; }
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  /// Returns the number of rows of the matrices, a multiple of `matrix_unit`.
  [[nodiscard]] std::size_t rows() const { return rows_; }
  /// Returns runs of one or two groups, the larger runs first. Their number is a multiple of the
  /// number of threads if there are enough groups.
  [[nodiscard]] std::vector<Run> runs(std::size_t threads) const {
    const std::size_t groups = groups_.size();
    return split_into(std::min(groups, round_up((groups + 1) / 2, threads)));
  }

  /// Returns at most that many runs, the larger ones first.
  [[nodiscard]] std::vector<Run> split_into(std::size_t most) const {
    const std::size_t groups = groups_.size();
    const std::size_t count = std::min(groups, most);
    std::vector<Run> runs;
    for (std::size_t first = 0; first < groups;) {
      const std::size_t left = count - runs.size();
      const std::size_t end = first + (groups - first + left - 1) / left;
      const std::size_t row = groups_[first].row;
      const Group& last = groups_[end - 1];
      runs.push_back({.first = first, .end = end, .row = row, .rows = last.row + last.rows - row});
      first = end;
    }
    return runs;
  }
  [[nodiscard]] std::size_t longest() const {
    return std::ranges::max_element(sequences_, {}, &Sequence::length)->length;
  }

  /// Returns the number of rows that belong to a group. Further rows fill the matrices up.
  [[nodiscard]] std::size_t rows_of_groups() const {
    return groups_.back().row + groups_.back().rows;
  }

  /// Calls use(group, its index) for each group of a run.
  template <class Use>
  void for_each_group(const Run& run, const Use& use) const {
    for (std::size_t i = run.first; i < run.end; ++i) use(groups_[i], i);
  }

  /// Calls use(sequence, its index, its group's index) for each sequence of a run.
  template <class Use>
  void for_each_sequence(const Run& run, const Use& use) const {
    for_each_group(run, [&](const Group& group, std::size_t g) {
      for (std::size_t i = group.first; i < group.end; ++i) use(sequences_[i], i, g);
    });
  }

  /// Calls use(row, count) for the rows after the last sequence of each group of a run.
  template <class Use>
  void for_each_rest(const Run& run, const Use& use) const {
    for_each_group(run, [&](const Group& group, std::size_t) {
      const Sequence& last = sequences_[group.end - 1];
      const std::size_t row = last.row + last.length;
      use(row, group.row + group.rows - row);
    });
  }

 private:
  void open_group() {
    close_group();
    groups_.push_back({.first = sequences_.size(), .end = 0, .row = rows_, .rows = 0});
  }

  void close_group() {
    if (groups_.empty()) return;
    rows_ = round_up(rows_, row_unit_);
    groups_.back().end = sequences_.size();
    groups_.back().rows = rows_ - groups_.back().row;
  }

  std::size_t row_unit_;
  std::vector<Sequence> sequences_;
  std::vector<Group> groups_;
  std::size_t rows_ = 0;
};

}  // namespace seqtrain::model::cpu
