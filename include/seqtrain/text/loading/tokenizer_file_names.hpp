#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace seqtrain::text {

/// The names of the files with a vocabulary of transformers, the preferred ones first.
inline constexpr std::string_view vocabulary_file_names[] = {
    "tokenizer.json",         "vocab.txt",    "vocab.json",
    "tokenizer.model",        "spiece.model", "spm.model",
    "sentencepiece.bpe.model"};

/// The names of all files that a tokenizer of any format may consist of.
inline constexpr std::string_view tokenizer_file_names[] = {"tokenizer.json",
                                                            "tokenizer_config.json",
                                                            "special_tokens_map.json",
                                                            "added_tokens.json",
                                                            "vocab.txt",
                                                            "vocab.json",
                                                            "merges.txt",
                                                            "sentencepiece.bpe.model",
                                                            "spiece.model",
                                                            "spm.model",
                                                            "tokenizer.model",
                                                            "vocabulary.txt"};

/// Tells whether a file of `tokenizer_file_names` belongs to the tokenizer. SentencePiece models
/// are not read if there is a tokenizer.json.
[[nodiscard]] inline bool is_tokenizer_file(std::string_view name, bool has_tokenizer_json) {
  return !(has_tokenizer_json && name.ends_with(".model"));
}

/// Returns the paths of a folder's tokenizer files.
[[nodiscard]] inline std::vector<std::filesystem::path> tokenizer_files(
    const std::filesystem::path& folder) {
  const bool has_json = std::filesystem::is_regular_file(folder / "tokenizer.json");
  std::vector<std::filesystem::path> files;
  for (const auto name : tokenizer_file_names) {
    if (is_tokenizer_file(name, has_json) && std::filesystem::is_regular_file(folder / name)) {
      files.push_back(folder / name);
    }
  }
  return files;
}

}  // namespace seqtrain::text
