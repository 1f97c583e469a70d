#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>

#include <seqtrain/core/error.hpp>

namespace seqtrain::parquet {

/// A column of a file, or the whole file if `column` is empty.
struct Place {
  std::string file;
  std::string column = {};
  std::int64_t first_row = 0;  ///< rows of the file before the rows that are read

  /// Makes an error at a row, counted from 0 after `first_row`.
  [[nodiscard]] InputError error(const std::string& problem, std::int64_t row = 0,
                                 const std::string& advice = {}) const {
    const std::int64_t line = column.empty() ? 0 : first_row + row + 1;
    return InputError{problem, {.object = file, .line = line, .field = column}, advice};
  }

  /// Makes an error about damage that Arrow has found, with the first line of its message.
  [[nodiscard]] InputError damage(const std::string& message) const {
    return error("cannot be read: " + message.substr(0, message.find('\n')), 0,
                 "fetch or write the file again");
  }
};

/// Returns the value of a result. Throws `InputError` if it holds an error.
template <class T>
T value_of(arrow::Result<T> result, const Place& place) {
  if (!result.ok()) throw place.damage(result.status().message());
  return *std::move(result);
}

/// Throws `InputError` unless the status is OK.
inline void demand(const arrow::Status& status, const Place& place) {
  if (!status.ok()) throw place.damage(status.message());
}

/// Returns the result of `work`. Exceptions of Arrow become `InputError`.
template <class Work>
auto guarded(const Place& place, const Work& work) {
  try {
    return work();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw place.damage(error.what());
  }
}

}  // namespace seqtrain::parquet
