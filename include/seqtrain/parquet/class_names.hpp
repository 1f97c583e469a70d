#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/json.hpp>

namespace seqtrain::parquet {

/// Returns the names of a column's `ClassLabel`, or of the `ClassLabel` in its lists, in the order
/// of their ids. The list is empty if there is no such column. `metadata` is the value that Hugging
/// Face's `datasets` writes into a file's schema under the key `huggingface`. Throws `InputError`
/// if it is not JSON of that form.
[[nodiscard]] inline std::vector<std::string> class_names(std::string_view metadata,
                                                          const std::string& column,
                                                          const std::string& file) {
  const auto document = json::Document::parse(metadata, file + ": metadata huggingface");
  const auto info = document.root().find("info");
  const auto features = info ? info->find("features") : std::nullopt;
  auto feature = features ? features->find(column) : std::nullopt;
  std::vector<std::string> names;
  while (feature) {
    if (feature->is_array()) {  // short form of a list
      const auto items = feature->items();
      feature = items.size() == 1 ? std::optional{items.front()} : std::nullopt;
      continue;
    }
    if (const auto listed = feature->find("names")) {
      for (const auto& name : listed->items()) names.push_back(name.string_or_digits());
      break;
    }
    feature = feature->find("feature");
    if (feature && !feature->is_array() && !feature->is_object()) break;
  }
  return names;
}

}  // namespace seqtrain::parquet
