#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/flat_array.hpp>

namespace seqtrain::data {

/// Encoded examples in flat arrays: ids (2 bytes each if the vocabulary allows it, else 4); one
/// word per row with the index of its first id and the number of ids before type 1; labels.
/// Regression and multi-label tasks also have targets. Examples have no heap memory of their own.
/// The arrays may lie in a mapped file; see `open_encoded_file`.
class EncodedSet {
 public:
  /// The length of the longest row that a set can hold.
  static constexpr std::size_t most_ids_a_row = (std::size_t{1} << 24) - 1;

  /// Makes an empty set of ids below `vocab_size`. Batches are padded with `pad_id`. Each row has
  /// `targets_a_row` numbers. Throws `Error` if `pad_id` is not below `vocab_size`.
  EncodedSet(std::size_t vocab_size, std::int32_t pad_id, std::size_t targets_a_row = 0)
      : vocab_size_{vocab_size}, pad_id_{pad_id}, targets_a_row_{targets_a_row} {
    if (vocab_size < 1 || vocab_size > std::size_t{1} << 31) {
      throw Error{"a vocabulary of " + std::to_string(vocab_size) + " is not possible"};
    }
    if (pad_id < 0 || static_cast<std::size_t>(pad_id) >= vocab_size) {
      throw Error{"the pad id " + std::to_string(pad_id) + " is outside the vocabulary"};
    }
    if (bytes_an_id(vocab_size) == 4) ids_.emplace<FlatArray<std::uint32_t>>();
  }

  /// The arrays of a set. An id takes `bytes_an_id` bytes.
  struct Arrays {
    std::span<const std::byte> ids;
    /// (index of the first id) << 24 | (ids before token type 1).
    std::span<const std::uint64_t> rows;
    std::span<const std::int32_t> labels;
    std::span<const float> targets;
  };

  /// Makes a set whose arrays are owned by `memory`, which the set and its copies keep alive. Every
  /// id must be below `vocab_size`. Throws `InputError` if a row reaches past the last id, or if
  /// the sizes of the arrays do not match.
  EncodedSet(std::size_t vocab_size, std::int32_t pad_id, std::size_t targets_a_row,
             const Arrays& arrays, std::shared_ptr<const void> memory)
      : EncodedSet{vocab_size, pad_id, targets_a_row} {
    const auto refer = [&]<class Id>(FlatArray<Id>& ids) {
      const auto* const first = reinterpret_cast<const Id*>(arrays.ids.data());
      ids = FlatArray<Id>::view({first, arrays.ids.size() / sizeof(Id)});
      end_ = ids.size();
    };
    std::visit(refer, ids_);
    rows_ = FlatArray<std::uint64_t>::view(arrays.rows);
    labels_ = FlatArray<std::int32_t>::view(arrays.labels);
    targets_ = FlatArray<float>::view(arrays.targets);
    memory_ = std::move(memory);
    check_arrays();
  }

  /// Returns the arrays, e.g. to write them to a file. They are valid until the set changes.
  [[nodiscard]] Arrays arrays() const noexcept {
    const auto bytes = [](const auto& ids) {
      return std::as_bytes(std::span{ids.begin(), ids.size()});
    };
    return {.ids = std::visit(bytes, ids_),
            .rows = {rows_.begin(), rows_.size()},
            .labels = {labels_.begin(), labels_.size()},
            .targets = {targets_.begin(), targets_.size()}};
  }

  /// Returns the number of bytes that an id takes with a vocabulary of this size.
  static constexpr std::size_t bytes_an_id(std::size_t vocab_size) noexcept {
    return vocab_size > 65'536 ? 4 : 2;
  }

  [[nodiscard]] std::size_t size() const noexcept { return labels_.size(); }
  [[nodiscard]] bool empty() const noexcept { return labels_.empty(); }
  [[nodiscard]] std::size_t vocab_size() const noexcept { return vocab_size_; }
  [[nodiscard]] std::int32_t pad_id() const noexcept { return pad_id_; }

  /// Returns the number of ids in all rows.
  [[nodiscard]] std::size_t tokens() const noexcept { return begin_of(size()); }
  /// Returns the number of ids of a row.
  [[nodiscard]] std::size_t length(std::size_t row) const noexcept {
    return begin_of(row + 1) - begin_of(row);
  }
  /// Returns the number of ids in a row before the first id of type 1, or the row's length if there
  /// is none.
  [[nodiscard]] std::size_t first_segment(std::size_t row) const noexcept {
    return rows_[row] & most_ids_a_row;
  }
  /// Returns the label of a row, or -1 if it has none.
  [[nodiscard]] std::int32_t label(std::size_t row) const noexcept { return labels_[row]; }
  [[nodiscard]] std::size_t targets_a_row() const noexcept { return targets_a_row_; }
  /// Returns the targets of a row. They are NaN if it has no label.
  [[nodiscard]] std::span<const float> targets(std::size_t row) const noexcept {
    return {targets_.begin() + row * targets_a_row_, targets_a_row_};
  }

  /// The lengths of all rows, as `make_plan` takes them. They refer to the set.
  struct Lengths {
    const EncodedSet* set;
    [[nodiscard]] std::size_t size() const noexcept { return set->size(); }
    std::size_t operator[](std::size_t row) const noexcept { return set->length(row); }
  };
  [[nodiscard]] Lengths lengths() const noexcept { return {this}; }

  /// Returns the length of the longest row, or 0 if the set is empty.
  [[nodiscard]] std::size_t longest() const noexcept {
    std::size_t longest = 0;
    for (std::size_t row = 0; row < size(); ++row) longest = std::max(longest, length(row));
    return longest;
  }

  /// Returns the index of a row's first id among all ids.
  [[nodiscard]] std::size_t begin_of(std::size_t row) const noexcept {
    return row < rows_.size() ? rows_[row] >> 24 : end_;
  }

  /// Calls `use` with a pointer to the ids of all rows, of 2 or 4 bytes each.
  template <class Use>
  decltype(auto) visit_ids(const Use& use) const {
    return std::visit([&use](const auto& ids) { return use(ids.begin()); }, ids_);
  }

  /// Writes the `length(row)` ids of a row to `out`.
  void copy_row(std::size_t row, std::int32_t* out) const {
    visit_ids([&](const auto* ids) { std::copy_n(ids + begin_of(row), length(row), out); });
  }

  /// Adds a row. Throws `Error` if an id is outside the vocabulary or the number of targets is
  /// wrong, and `InputError` if the row is too long.
  void push_back(std::span<const std::int32_t> ids, std::size_t first_segment, std::int32_t label,
                 std::span<const float> targets = {}) {
    check(ids, first_segment);
    if (targets.size() != targets_a_row_) throw Error{"a row has a different number of targets"};
    const auto widen = [&](auto& all) {
      using Stored = std::remove_cvref_t<decltype(all[0])>;
      std::ranges::transform(ids, all.extend(ids.size()),
                             [](std::int32_t id) { return static_cast<Stored>(id); });
    };
    const std::size_t begin = end_;
    std::visit(widen, ids_);
    end_ += ids.size();
    rows_.push_back(std::uint64_t{begin} << 24 | first_segment);
    labels_.push_back(label);
    if (!targets.empty()) targets_.append(targets);
  }

  /// Returns a set of some of the rows, in the order given.
  [[nodiscard]] EncodedSet select(std::span<const std::size_t> rows) const {
    EncodedSet chosen{vocab_size_, pad_id_, targets_a_row_};
    std::vector<std::int32_t> ids;
    for (const std::size_t row : rows) {
      ids.resize(length(row));
      copy_row(row, ids.data());
      chosen.push_back(ids, first_segment(row), label(row), targets(row));
    }
    chosen.shrink_to_fit();
    return chosen;
  }

  /// Adds the rows of a set over the same vocabulary.
  void append(const EncodedSet& other) {
    const auto join = [&](auto& all) {
      const auto& more = std::get<std::remove_cvref_t<decltype(all)>>(other.ids_);
      all.append({more.begin(), more.end()});
    };
    std::visit(join, ids_);
    std::uint64_t* const rows = rows_.extend(other.size());
    const std::uint64_t shift = std::uint64_t{end_} << 24;
    std::ranges::transform(other.rows_, rows, [shift](std::uint64_t row) { return row + shift; });
    labels_.append({other.labels_.begin(), other.labels_.end()});
    targets_.append({other.targets_.begin(), other.targets_.end()});
    end_ += other.end_;
  }

  /// Keeps only the first `rows` rows. Frees no memory.
  void truncate(std::size_t rows) noexcept {
    if (rows >= size()) return;
    end_ = begin_of(rows);
    std::visit([this](auto& all) { all.truncate(end_); }, ids_);
    rows_.truncate(rows);
    labels_.truncate(rows);
    targets_.truncate(rows * targets_a_row_);
  }

  /// Frees memory that no row uses.
  void shrink_to_fit() {
    std::visit([](auto& all) { all.shrink_to_fit(); }, ids_);
    rows_.shrink_to_fit();
    labels_.shrink_to_fit();
    targets_.shrink_to_fit();
  }

  /// Returns the bytes of memory that the arrays take. Arrays in a file do not count.
  [[nodiscard]] std::size_t bytes() const noexcept {
    const auto used = [](const auto& all) { return all.capacity() * sizeof(all[0]); };
    return std::visit(used, ids_) + used(rows_) + used(labels_) + used(targets_);
  }

 private:
  void check(std::span<const std::int32_t> ids, std::size_t first_segment) const {
    const auto last = static_cast<std::uint32_t>(vocab_size_ - 1);
    std::uint32_t bits = 0;  // the highest bit is set if an id is negative or too large
    for (const std::int32_t id : ids) {
      bits |= static_cast<std::uint32_t>(id) | (last - static_cast<std::uint32_t>(id));
    }
    if (bits >> 31 != 0) {
      throw Error{"an id is outside the vocabulary of " + std::to_string(vocab_size_)};
    }
    if (ids.size() > most_ids_a_row) {
      throw InputError{"an example has " + std::to_string(ids.size()) + " ids",
                       {},
                       "set max_length to truncate it"};
    }
    if (first_segment > ids.size()) throw Error{"a segment is longer than its row"};
  }

  void check_arrays() const {
    const auto demand = [](bool good, const char* problem) {
      if (!good) throw InputError{problem};
    };
    demand(labels_.size() == rows_.size(), "the numbers of labels and rows differ");
    demand(targets_a_row_ == 0 ? targets_.empty()
                               : targets_.size() / targets_a_row_ == rows_.size() &&
                                     targets_.size() % targets_a_row_ == 0,
           "the numbers of targets and rows do not match");
    bool good = rows_.empty() ? end_ == 0 : begin_of(0) == 0;
    for (std::size_t row = 0; row < size(); ++row) {
      const std::size_t begin = begin_of(row);
      const std::size_t end = begin_of(row + 1);
      good &= begin <= end && end <= end_ && end - begin <= most_ids_a_row &&
              first_segment(row) <= end - begin && label(row) >= -1;
    }
    demand(good, "a row lies outside the ids, or its label is below -1");
  }

  std::size_t vocab_size_;
  std::int32_t pad_id_;
  std::size_t targets_a_row_;
  std::size_t end_ = 0;  ///< number of ids in all rows
  std::variant<FlatArray<std::uint16_t>, FlatArray<std::uint32_t>> ids_;
  /// [size], (index of the first id) << 24 | (ids before token type 1).
  FlatArray<std::uint64_t> rows_;
  FlatArray<std::int32_t> labels_;
  FlatArray<float> targets_;            ///< [size, targets_a_row_]
  std::shared_ptr<const void> memory_;  ///< owner of arrays that are not in this set
};

/// Returns a set whose texts run from the last word to the first, for models that were trained
/// backwards. A whole row counts as one segment.
[[nodiscard]] inline EncodedSet reversed(const EncodedSet& set) {
  EncodedSet result{set.vocab_size(), set.pad_id(), set.targets_a_row()};
  std::vector<std::int32_t> ids;
  for (std::size_t row = 0; row < set.size(); ++row) {
    ids.resize(set.length(row));
    set.copy_row(row, ids.data());
    std::ranges::reverse(ids);
    result.push_back(ids, ids.size(), set.label(row), set.targets(row));
  }
  return result;
}

}  // namespace seqtrain::data
