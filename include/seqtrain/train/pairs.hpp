#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>

namespace seqtrain::train {

/// Names with values, in order, such as flags and versions.
using Pairs = std::vector<std::pair<std::string, std::string>>;

/// Returns the value of a name, or an empty string if there is no such name.
[[nodiscard]] inline std::string value_in(const Pairs& pairs, std::string_view name) {
  const auto found = std::ranges::find(pairs, name, &Pairs::value_type::first);
  return found == pairs.end() ? "" : found->second;
}

/// Replaces the pair with the name of `pair`, or adds it.
inline void replace(Pairs& pairs, Pairs::value_type pair) {
  const auto found = std::ranges::find(pairs, pair.first, &Pairs::value_type::first);
  if (found == pairs.end()) {
    pairs.push_back(std::move(pair));
  } else {
    found->second = std::move(pair.second);
  }
}

/// Appends the pairs to a JSON object as one member `name`, an object.
inline void append(json::Writer& out, std::string_view name, const Pairs& pairs) {
  out.key(name).begin_object();
  for (const auto& [key, value] : pairs) out.member(key, std::string_view{value});
  out.end_object();
}

/// Reads the member `name` of an object, as `append` writes it; none if it is absent.
inline Pairs pairs_in(const json::Value& root, std::string_view name) {
  Pairs pairs;
  if (const auto object = root.find(name)) {
    for (const auto& [key, value] : object->members()) pairs.emplace_back(key, value.string());
  }
  return pairs;
}

}  // namespace seqtrain::train
