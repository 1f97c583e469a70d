#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <string_view>
#include <vector>

namespace seqtrain::data {

/// The bytes with which a Parquet file begins and ends.
inline constexpr std::string_view parquet_magic = "PAR1";

/// Returns the first or the last four bytes of a file; fewer if it is shorter or cannot be read.
[[nodiscard]] inline std::string four_bytes(const std::filesystem::path& file, bool last = false) {
  std::string bytes(parquet_magic.size(), '\0');
  std::ifstream in{file, std::ios::binary};
  if (last) in.seekg(-static_cast<std::streamoff>(bytes.size()), std::ios::end);
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

/// Tells whether one of the files ends in .parquet or begins with PAR1.
[[nodiscard]] inline bool is_parquet(const std::vector<std::filesystem::path>& files) {
  return std::ranges::any_of(files, [](const std::filesystem::path& file) {
    return file.extension() == ".parquet" || four_bytes(file) == parquet_magic;
  });
}

}  // namespace seqtrain::data
