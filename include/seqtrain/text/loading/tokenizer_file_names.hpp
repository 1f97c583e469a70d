#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace seqtrain::text {

/// The names of all files that a tokenizer of any format may consist of.
inline constexpr std::string_view tokenizer_file_names[] = {"tokenizer.json",
                                                            "tokenizer_config.json",
                                                            "special_tokens_map.json",
                                                            "added_tokens.json",
                                                            "vocab.txt",
                                                            "vocab.json",
                                                            "merges.txt",
                                                            "vocabulary.txt"};

/// Returns the paths of a folder's tokenizer files.
[[nodiscard]] inline std::vector<std::filesystem::path> tokenizer_files(
    const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto name : tokenizer_file_names) {
    if (std::filesystem::is_regular_file(folder / name)) files.push_back(folder / name);
  }
  return files;
}

}  // namespace seqtrain::text
