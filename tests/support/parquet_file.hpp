#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_nested.h>
#include <arrow/io/file.h>
#include <arrow/table.h>
#include <parquet/arrow/writer.h>

#include "support/shared_data.hpp"

namespace seqtrain::tests {

/// Returns the path of a file that tests/golden/parquet.py has written.
inline std::filesystem::path golden_parquet(const std::string& name) {
  return golden() / "parquet" / name;
}

/// A column of a table.
using NamedArray = std::pair<std::string, std::shared_ptr<arrow::Array>>;

/// Writes columns of any types to a Parquet file.
inline void write_arrays(const std::filesystem::path& path, const std::vector<NamedArray>& columns,
                         std::int64_t rows_a_group) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const auto& [name, array] : columns) {
    fields.push_back(arrow::field(name, array->type()));
    arrays.push_back(array);
  }
  const auto table = arrow::Table::Make(arrow::schema(fields), arrays);
  const auto out = arrow::io::FileOutputStream::Open(path.string()).ValueOrDie();
  PARQUET_THROW_NOT_OK(
      ::parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), out, rows_a_group));
  PARQUET_THROW_NOT_OK(out->Close());
}

[[nodiscard]] inline std::shared_ptr<arrow::Array> array_of(const std::vector<std::string>& texts) {
  arrow::StringBuilder builder;
  PARQUET_THROW_NOT_OK(builder.AppendValues(texts));
  return builder.Finish().ValueOrDie();
}

/// Returns a column of lists of strings.
[[nodiscard]] inline std::shared_ptr<arrow::Array> array_of(
    const std::vector<std::vector<std::string>>& lists) {
  const auto items = std::make_shared<arrow::StringBuilder>();
  arrow::ListBuilder builder{arrow::default_memory_pool(), items};
  for (const auto& list : lists) {
    PARQUET_THROW_NOT_OK(builder.Append());
    PARQUET_THROW_NOT_OK(items->AppendValues(list));
  }
  return builder.Finish().ValueOrDie();
}

/// Writes columns of strings to a Parquet file.
inline void write_parquet(
    const std::filesystem::path& path,
    const std::vector<std::pair<std::string, std::vector<std::string>>>& columns,
    std::int64_t rows_a_group) {
  std::vector<NamedArray> arrays;
  for (const auto& [name, values] : columns) arrays.emplace_back(name, array_of(values));
  write_arrays(path, arrays, rows_a_group);
}

}  // namespace seqtrain::tests
