#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace seqtrain::tensor {

/// A set of rows of a table.
class RowSet {
 public:
  explicit RowSet(std::size_t rows) : has_(rows) {}

  /// Returns the number of rows of the table.
  [[nodiscard]] std::size_t rows() const { return has_.size(); }

  /// Returns the number of rows in the set.
  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(std::ranges::count(has_, 1));
  }

  /// Adds a row.
  void insert(std::size_t row) { has_[row] = 1; }

  /// Adds the rows of another set of this size.
  void insert(const RowSet& other) {
    for (std::size_t row = 0; row < has_.size(); ++row) has_[row] |= other.has_[row];
  }

  /// Removes the rows of another set of this size.
  void remove(const RowSet& other) {
    for (std::size_t row = 0; row < has_.size(); ++row) {
      if (other.has_[row] != 0) has_[row] = 0;
    }
  }

  void fill() { std::ranges::fill(has_, 1); }
  void clear() { std::ranges::fill(has_, 0); }

  /// Returns the number of the table's changes (`changes_of`) that the set includes. Operators that
  /// write to the table later do not add their rows to the set.
  [[nodiscard]] std::int64_t changes() const { return changes_; }
  /// Sets the number that `changes` returns.
  void take_into_account(std::int64_t changes) { changes_ = changes; }

  /// Calls use(first, end) for each run of neighbouring rows, in order.
  template <class Use>
  void for_each_run(const Use& use) const {
    for (auto end = has_.begin();;) {
      const auto first = std::find(end, has_.end(), 1);
      if (first == has_.end()) return;
      end = std::find(first, has_.end(), 0);
      use(static_cast<std::size_t>(first - has_.begin()),
          static_cast<std::size_t>(end - has_.begin()));
    }
  }

 private:
  std::vector<std::uint8_t> has_;
  std::int64_t changes_ = 0;
};

}  // namespace seqtrain::tensor
