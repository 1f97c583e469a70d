#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/record_batch.h>
#include <parquet/arrow/reader.h>

#include <seqtrain/parquet/status.hpp>

namespace seqtrain::parquet {

/// A column that is read.
struct Column {
  Place place;
  std::vector<int> leaves;  ///< Parquet's indexes of the leaf columns; a list has one of its own
};

/// Neighbouring rows of some columns, an array for each.
struct Slice {
  std::vector<std::shared_ptr<arrow::Array>> columns;
  std::int64_t first_row = 0;  ///< index in the file
  std::int64_t rows = 0;
};

/// The rows of a row group. `first_row` is counted in the file.
struct GroupRows {
  int number = 0;
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  std::int64_t rows_a_slice = 1;
};

/// Reads a row group's columns from front to back, in slices. Each slice is decoded once, even if
/// threads take them in another order: slices before the requested one are kept until they are
/// taken. If a slice is taken twice, decoding starts again at the front.
class RowGroup {
 public:
  RowGroup(std::unique_ptr<::parquet::arrow::FileReader> reader, const GroupRows& rows,
           std::vector<Column> columns)
      : reader_{std::move(reader)}, group_{rows}, columns_{std::move(columns)} {}

  /// Returns a slice. Throws `InputError` that names the column if it cannot be decoded.
  [[nodiscard]] Slice take(std::int64_t index) {
    const std::lock_guard lock{mutex_};
    if (auto found = waiting_.extract(index)) return std::move(found.mapped());
    if (index < next_) begin();
    for (;;) {
      if (failure_) std::rethrow_exception(failure_);
      Slice slice = decode();
      if (next_++ == index) return slice;
      waiting_.emplace(next_ - 1, std::move(slice));
    }
  }

  /// Tells whether every slice has been taken.
  [[nodiscard]] bool is_done() const {
    const std::lock_guard lock{mutex_};
    return waiting_.empty() && next_ * group_.rows_a_slice >= group_.rows;
  }

 private:
  void begin() {
    next_ = 0;
    failure_ = nullptr;
    waiting_.clear();
    streams_.clear();
  }

  Slice decode() {
    try {
      return decode_columns();
    } catch (const InputError&) {
      failure_ = std::current_exception();
      throw;
    }
  }

  Slice decode_columns() {
    const std::int64_t begin = next_ * group_.rows_a_slice;
    Slice slice{.columns = {},
                .first_row = group_.first_row + begin,
                .rows = std::min(group_.rows_a_slice, group_.rows - begin)};
    streams_.resize(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      Place place = columns_[i].place;
      place.first_row = slice.first_row;
      slice.columns.push_back(guarded(place, [&] { return decode(i, slice.rows, place); }));
    }
    return slice;
  }

  std::shared_ptr<arrow::Array> decode(std::size_t column, std::int64_t rows, const Place& place) {
    auto& stream = streams_[column];
    if (!stream) {
      stream =
          value_of(reader_->GetRecordBatchReader({group_.number}, columns_[column].leaves), place);
    }
    arrow::ArrayVector pieces;
    for (std::int64_t missing = rows; missing > 0; missing -= pieces.back()->length()) {
      std::shared_ptr<arrow::RecordBatch> batch;
      demand(stream->ReadNext(&batch), place);
      if (!batch || batch->num_columns() != 1 || batch->num_rows() == 0 ||
          batch->num_rows() > missing) {
        throw place.damage("the column has another number of rows than the file says");
      }
      pieces.push_back(batch->column(0));
    }
    auto array = pieces.size() == 1 ? pieces.front() : value_of(arrow::Concatenate(pieces), place);
    demand(array->Validate(), place);
    return array;
  }

  mutable std::mutex mutex_;
  std::unique_ptr<::parquet::arrow::FileReader> reader_;
  GroupRows group_;
  std::vector<Column> columns_;
  std::vector<std::unique_ptr<arrow::RecordBatchReader>> streams_;
  std::int64_t next_ = 0;  ///< the slice that is decoded next
  std::map<std::int64_t, Slice> waiting_;
  std::exception_ptr failure_;
};

}  // namespace seqtrain::parquet
