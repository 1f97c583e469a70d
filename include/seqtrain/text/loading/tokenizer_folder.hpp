#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>

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

/// The JSON files of a folder that decide its tokenizer. Each of them may be absent.
class TokenizerFolder {
 public:
  explicit TokenizerFolder(std::filesystem::path folder)
      : folder_{std::move(folder)},
        config_{load("config.json")},
        settings_{load("tokenizer_config.json")},
        special_tokens_map_{load("special_tokens_map.json")},
        added_tokens_{load("added_tokens.json")},
        tokenizer_{load("tokenizer.json")} {}

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return folder_; }

  /// Tells whether the folder has a file.
  [[nodiscard]] bool has(std::string_view name) const {
    std::error_code ignored;
    return std::filesystem::exists(folder_ / name, ignored);
  }

  /// Returns the path of a file that is needed. Throws `InputError` if it is missing.
  [[nodiscard]] std::filesystem::path at(std::string_view name) const {
    if (has(name)) return folder_ / name;
    throw InputError{"has no " + std::string{name} + " and no tokenizer.json",
                     {.object = folder_.string()},
                     "the class of its tokenizer needs one of them"};
  }

  [[nodiscard]] std::optional<json::Value> config() const { return root(config_); }
  /// Returns tokenizer_config.json.
  [[nodiscard]] std::optional<json::Value> settings() const { return root(settings_); }
  [[nodiscard]] std::optional<json::Value> special_tokens_map() const {
    return root(special_tokens_map_);
  }
  [[nodiscard]] std::optional<json::Value> added_tokens() const { return root(added_tokens_); }
  /// Returns tokenizer.json.
  [[nodiscard]] std::optional<json::Value> tokenizer() const { return root(tokenizer_); }

  /// Returns a value of tokenizer_config.json, or nothing if it is absent or null.
  [[nodiscard]] std::optional<json::Value> setting(std::string_view key) const {
    return settings_ ? settings_->root().find(key) : std::nullopt;
  }

  /// Returns a setting that is true or false, or nothing.
  [[nodiscard]] std::optional<bool> flag(std::string_view key) const {
    const auto value = setting(key);
    return value ? std::optional{value->boolean()} : std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<json::Document> load(std::string_view name) const {
    if (!has(name)) return {};
    return json::Document::load(folder_ / name);
  }

  static std::optional<json::Value> root(const std::optional<json::Document>& document) {
    return document ? std::optional{document->root()} : std::nullopt;
  }

  std::filesystem::path folder_;
  std::optional<json::Document> config_;
  std::optional<json::Document> settings_;
  std::optional<json::Document> special_tokens_map_;
  std::optional<json::Document> added_tokens_;
  std::optional<json::Document> tokenizer_;
};

}  // namespace seqtrain::text
