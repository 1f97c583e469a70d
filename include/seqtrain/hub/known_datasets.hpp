#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace seqtrain::hub {

/// Facts about a public data set that its files do not show.
struct KnownDataset {
  std::string_view id = {};
  std::string_view old_id = {};  ///< the name without an owner, which the hub redirects
  std::string_view config = {};
  std::string_view dev_split = {};
  std::string_view problem_type = {};  ///< empty for single-label classification
};

inline constexpr std::array<KnownDataset, 4> known_datasets{
    {{"nyu-mll/multi_nli", "multi_nli", "", "validation_matched", ""},
     {"nyu-mll/glue", "glue", "mnli", "validation_matched", ""},
     {"nyu-mll/glue", "glue", "stsb", "validation", "regression"},
     {"stanfordnlp/imdb", "imdb", "", "test", ""}}};

/// Returns the known facts about a data set and its config, or the defaults for any other data set.
/// The training split is always `train`.
[[nodiscard]] inline KnownDataset known_dataset(std::string_view id, std::string_view config) {
  const auto found = std::ranges::find_if(known_datasets, [&](const KnownDataset& known) {
    return (known.id == id || known.old_id == id) &&
           (known.config.empty() || known.config == config);
  });
  return found == known_datasets.end() ? KnownDataset{.dev_split = "validation"} : *found;
}

}  // namespace seqtrain::hub
