#pragma once

#include <string>
#include <string_view>

#include <seqtrain/core/error.hpp>

namespace seqtrain::data {

/// Throws `InputError` that says what a file is if its first bytes show that it is no text of
/// examples: Parquet, a zip archive, a compressed file or a pointer of git-lfs.
inline void demand_text(std::string_view bytes, const std::string& file) {
  const auto refuse = [&](const char* problem, const char* advice) {
    throw InputError{problem, {.object = file}, advice};
  };
  if (bytes.starts_with("PAR1")) {
    refuse("holds Parquet, which is not read here",
           "train with a program that is built with pyarrow, or write JSON lines");
  }
  if (bytes.starts_with("PK\x03\x04")) {
    refuse("is a zip archive or a spreadsheet",
           "unpack the archive, or save the spreadsheet as CSV");
  }
  if (bytes.starts_with("\x1f\x8b") || bytes.starts_with("\x28\xb5\x2f\xfd")) {
    refuse("is compressed, which is not read here", "pass it on by zcat or zstdcat");
  }
  if (bytes.starts_with("version https://git-lfs.github.com/spec/")) {
    refuse("is a pointer of git-lfs and not the file itself", "fetch the file by: git lfs pull");
  }
}

}  // namespace seqtrain::data
