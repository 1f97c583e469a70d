#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array/builder_binary.h>
#include <arrow/io/file.h>
#include <arrow/table.h>
#include <parquet/arrow/writer.h>

#include "support/shared_data.hpp"

namespace seqtrain::tests {

/// Returns the path of a file that tests/golden/parquet.py has written.
inline std::filesystem::path golden_parquet(const std::string& name) {
  return golden() / "parquet" / name;
}

/// Writes columns of strings to a Parquet file.
inline void write_parquet(
    const std::filesystem::path& path,
    const std::vector<std::pair<std::string, std::vector<std::string>>>& columns,
    std::int64_t rows_a_group) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const auto& [name, values] : columns) {
    arrow::StringBuilder builder;
    PARQUET_THROW_NOT_OK(builder.AppendValues(values));
    fields.push_back(arrow::field(name, arrow::utf8()));
    arrays.push_back(builder.Finish().ValueOrDie());
  }
  const auto table = arrow::Table::Make(arrow::schema(fields), arrays);
  const auto out = arrow::io::FileOutputStream::Open(path.string()).ValueOrDie();
  PARQUET_THROW_NOT_OK(
      ::parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), out, rows_a_group));
  PARQUET_THROW_NOT_OK(out->Close());
}

}  // namespace seqtrain::tests
