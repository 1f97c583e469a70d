#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/shown_text.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/label_key.hpp>
#include <seqtrain/data/read_options.hpp>

namespace seqtrain::data {

/// Returns the split of a name such as `train`, `validation` or `TEST`, or nothing if it is
/// unknown.
[[nodiscard]] inline std::optional<Split> split_named(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Split>, 11> known{{{"train", Split::train},
                                                                      {"training", Split::train},
                                                                      {"dev", Split::dev},
                                                                      {"development", Split::dev},
                                                                      {"validation", Split::dev},
                                                                      {"valid", Split::dev},
                                                                      {"val", Split::dev},
                                                                      {"eval", Split::dev},
                                                                      {"evaluation", Split::dev},
                                                                      {"test", Split::test},
                                                                      {"testing", Split::test}}};
  const std::string key = label_key(name);
  for (const auto& [each, split] : known) {
    if (each == key) return split;
  }
  return {};
}

/// Tells whether an example belongs to the split that is read, and `options.reads` reads it.
[[nodiscard]] inline bool is_read(const Example& example, const ReadOptions& options) {
  const bool in_split =
      options.split == Split::all || split_named(example.kept.back().text) == options.split;
  return in_split && (!options.reads || options.reads(example));
}

}  // namespace seqtrain::data
