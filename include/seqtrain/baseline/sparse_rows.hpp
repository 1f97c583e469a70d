#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace seqtrain::baseline {

/// A number of a row that is not 0, with its column.
struct Entry {
  std::uint32_t column = 0;
  float value = 0;
};

/// A matrix most of whose numbers are 0: the entries of its rows, one row after the other.
class SparseRows {
 public:
  [[nodiscard]] std::size_t size() const { return begins_.size() - 1; }
  [[nodiscard]] std::size_t entries() const { return entries_.size(); }

  [[nodiscard]] std::span<const Entry> all() const { return entries_; }
  [[nodiscard]] std::span<Entry> all() { return entries_; }
  /// Returns the index of a row's first entry among all.
  [[nodiscard]] std::size_t begin_of(std::size_t row) const { return begins_[row]; }

  [[nodiscard]] std::span<const Entry> operator[](std::size_t row) const {
    return {entries_.data() + begins_[row], begins_[row + 1] - begins_[row]};
  }
  [[nodiscard]] std::span<Entry> operator[](std::size_t row) {
    return {entries_.data() + begins_[row], begins_[row + 1] - begins_[row]};
  }

  /// Appends a row of so many entries, each of column 0 and value 0.
  void append(std::size_t entries) {
    entries_.resize(entries_.size() + entries);
    begins_.push_back(entries_.size());
  }

  /// Removes the entries for which `is_removed` holds.
  template <class Predicate>
  void remove(const Predicate& is_removed) {
    std::size_t kept = 0, begin = 0;
    for (std::size_t row = 0; row < size(); ++row) {
      const std::size_t end = begins_[row + 1];
      for (std::size_t i = begin; i < end; ++i) {
        if (!is_removed(entries_[i])) entries_[kept++] = entries_[i];
      }
      begins_[row + 1] = kept;
      begin = end;
    }
    entries_.resize(kept);
  }

 private:
  std::vector<Entry> entries_;
  std::vector<std::size_t> begins_{0};
};

}  // namespace seqtrain::baseline
