#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <seqtrain/core/json.hpp>

namespace seqtrain::model {

/// Returns which of `layers` layers have a window, if config.json has `layer_types`. Throws
/// `InputError` if a type is not known, or if there is not one for each layer.
[[nodiscard]] inline std::optional<std::vector<bool>> sliding_layers(const json::Value& root,
                                                                     std::int64_t layers) {
  const auto types = root.find("layer_types");
  if (!types) return {};
  const auto items = types->items();
  if (items.size() != static_cast<std::size_t>(layers)) {
    throw types->error("has " + std::to_string(items.size()) + " types, but num_hidden_layers is " +
                       std::to_string(layers));
  }
  std::vector<bool> result;
  for (const json::Value& item : items) {
    result.push_back(item.string() == "sliding_attention");
    if (result.back() || item.string() == "full_attention") continue;
    throw types->error("'" + std::string{item.string()} + "' is not supported",
                       "supported are full_attention, sliding_attention");
  }
  return result;
}

/// Throws `InputError` if the rotary positions have no values by the type of a layer.
inline void check_ropes_by_type(const json::Value& all) {
  for (const auto& [type, value] : all.members()) {
    if (type == "full_attention" || type == "sliding_attention") continue;
    throw all.error("has '" + std::string{type} + "' and not the two types of layers",
                    "write {\"full_attention\": {…}, \"sliding_attention\": {…}}, each with its "
                    "rope_type and rope_theta, as transformers does");
  }
}

}  // namespace seqtrain::model
