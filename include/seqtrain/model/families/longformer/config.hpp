#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/model/families/roberta/config.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// Longformer's config.json.
struct LongformerConfig : weights::ModelConfig {
  std::vector<std::int64_t> windows = {};  ///< for each layer, of both sides together
};

namespace detail {

/// Returns the window of each layer: one number for all, or a list.
inline std::vector<std::int64_t> longformer_windows(const json::Value& root, std::int64_t layers) {
  const auto value = root.find("attention_window");
  std::vector<std::int64_t> windows;
  if (value && value->is_array()) {
    for (const json::Value& window : value->items()) windows.push_back(window.integer());
  } else {
    windows.assign(static_cast<std::size_t>(layers), value ? value->integer() : 512);
  }
  if (windows.size() != static_cast<std::size_t>(layers)) {
    throw value->error("has " + std::to_string(windows.size()) +
                       " windows, but num_hidden_layers is " + std::to_string(layers));
  }
  for (const std::int64_t window : windows) {
    if (window > 0 && window % 2 == 0) continue;
    throw value->error(std::to_string(window) + " is not an even number above 0");
  }
  return windows;
}

}  // namespace detail

/// Reads Longformer's settings. Throws `InputError` if one is missing, wrong or not supported.
inline LongformerConfig read_longformer_config(const weights::ConfigFile& file) {
  LongformerConfig config{
      weights::read_config(file, {.pad_token_id = 1, .keys = {.classifier_dropout = ""}})};
  check_positions_after_padding(file, config);
  config.windows = detail::longformer_windows(file.root(), config.num_hidden_layers);
  return config;
}

}  // namespace seqtrain::model
