#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <seqtrain/core/json.hpp>

namespace seqtrain::weights {

/// The names of the files that can hold weights, in order of preference.
inline constexpr std::string_view weights_file_names[] = {
    "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
    "pytorch_model.bin.index.json"};

/// Returns the name of the file from which a Hugging Face directory's weights are read: the first
/// that exists of model.safetensors, its index, pytorch_model.bin and its index.
inline std::optional<std::string> weights_file(const std::filesystem::path& directory) {
  for (const auto name : weights_file_names) {
    std::error_code ignored;
    if (std::filesystem::exists(directory / name, ignored)) return std::string{name};
  }
  return {};
}

/// Returns the files from which a Hugging Face directory's weights are read, including an index and
/// the shards that it names. Throws `InputError` if the index is damaged.
inline std::vector<std::filesystem::path> weights_files(const std::filesystem::path& directory) {
  const auto file = weights_file(directory);
  if (!file) return {};
  std::vector<std::filesystem::path> files{directory / *file};
  if (!file->ends_with(".index.json")) return files;
  const auto document = json::Document::load(files.front());
  std::set<std::string, std::less<>> shards;
  for (const auto& [tensor, shard] : document.root().at("weight_map").members()) {
    shards.emplace(shard.string());
  }
  for (const auto& shard : shards) files.push_back(directory / shard);
  return files;
}

}  // namespace seqtrain::weights
