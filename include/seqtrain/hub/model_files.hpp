#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/text/loading/tokenizer_file_names.hpp>
#include <seqtrain/weights/adapter.hpp>
#include <seqtrain/weights/weights_file.hpp>

namespace seqtrain::hub {

/// Selects the files of a repository from which a model is loaded: configuration, tokenizer and
/// weights. It does not return the shards of the weights, which an index names. If there are
/// weights in several formats it returns only the preferred one. Of an adapter it returns the files
/// in PEFT's layout, and a configuration only if there is one. Throws `InputError` that names
/// `model` if a part is missing.
[[nodiscard]] inline std::vector<std::string> model_files(const std::vector<std::string>& all,
                                                          const std::string& model) {
  const auto has = [&](std::string_view name) { return std::ranges::find(all, name) != all.end(); };
  std::vector<std::string> chosen;
  const auto take = [&](std::string_view name) { chosen.emplace_back(name); };
  const auto weights = std::ranges::find_if(weights::weights_file_names, has);
  const bool whole = weights != std::end(weights::weights_file_names);
  const bool adapter = !whole && has(weights::adapter_config_name);
  if (!has("config.json") && !adapter) {
    throw InputError{"has no config.json", {.object = model}, "it is not a model of transformers"};
  }
  if (has("config.json")) take("config.json");
  for (const auto name : text::tokenizer_file_names) {
    if (has(name) && text::is_tokenizer_file(name, has("tokenizer.json"))) take(name);
  }
  constexpr const char* score = "config_sentence_transformers.json";  // names a reranker's function
  if (has(score)) take(score);
  if (adapter) {
    take(weights::adapter_config_name);
    take(weights::adapter_weights_name);
    return chosen;
  }
  if (!whole) {
    throw InputError{"has no weights in a known format",
                     {.object = model},
                     "model.safetensors or pytorch_model.bin is needed, or an index of either"};
  }
  take(*weights);
  return chosen;
}

/// Tells whether a folder holds all parts of a model: configuration, tokenizer and weights with all
/// shards; or an adapter, whose other parts may be its base's.
[[nodiscard]] inline bool is_whole_model(const std::filesystem::path& folder) {
  const auto is_file = [](const std::filesystem::path& file) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(file, ignored);
  };
  const auto has = [&](std::string_view name) { return is_file(folder / name); };
  if (weights::is_adapter(folder)) return has(weights::adapter_weights_name);
  const auto is_vocabulary = [&](std::string_view name) {
    return has(name) && (name != "vocab.json" || has("merges.txt"));
  };
  const bool tokenizer =
      has("vocabulary.txt") || std::ranges::any_of(text::vocabulary_file_names, is_vocabulary);
  if (!has("config.json") || !tokenizer || !weights::weights_file(folder)) return false;
  try {
    return std::ranges::all_of(weights::weights_files(folder), is_file);
  } catch (const InputError&) {  // the index is damaged
    return false;
  }
}

}  // namespace seqtrain::hub
