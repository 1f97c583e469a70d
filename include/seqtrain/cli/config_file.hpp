#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::cli {

/// Flags that belong to a single run or its machine. A run that repeats another one does not take
/// their values.
inline constexpr std::array<std::string_view, 8> flags_of_one_run{
    "checkpoint-dir", "hub-private-repo", "logging-dir", "output-dir",
    "overwrite",      "push-to-hub",      "resume",      "threads"};

namespace detail {

/// Returns a value of a configuration file as it would stand on a command line.
inline std::string config_text(const json::Value& value) {
  if (value.is_string()) return std::string{value.string()};
  if (value.is_boolean()) return value.boolean() ? "true" : "false";
  if (value.is_integer()) return std::to_string(value.integer());
  if (value.is_number()) return flag_text(value.number());
  if (!value.is_array()) {
    throw value.error("expected a text, a number, true or false, or an array of these");
  }
  std::vector<std::string> parts;
  for (const auto& item : value.items()) {
    if (item.is_array()) throw item.error("expected a text or a number");
    parts.push_back(config_text(item));
  }
  return flag_text(parts);
}

}  // namespace detail

/// Reads the flags of a JSON file: an object with a member for each flag, or a run's
/// `metrics.json`. From `metrics.json` it takes the member `flags` without `flags_of_one_run`, and
/// without `test-file` if that equals the dev file, which was its default once. Members that are
/// null are left out. Throws `InputError` if the file cannot be read or a value cannot be a flag's.
[[nodiscard]] inline train::Pairs read_config_file(const std::string& file) {
  const auto document = json::Document::load(file);
  const auto recorded = document.root().find("flags");
  const bool of_run = recorded && recorded->is_object();
  train::Pairs flags;
  for (const auto& [key, value] : (of_run ? *recorded : document.root()).members()) {
    if (value.element().is_null()) continue;
    if (of_run && std::ranges::count(flags_of_one_run, key) > 0) continue;
    flags.emplace_back(key, detail::config_text(value));
  }
  if (of_run && train::value_in(flags, "test-file") == train::value_in(flags, "dev-file")) {
    std::erase_if(flags, [](const auto& flag) { return flag.first == "test-file"; });
  }
  return flags;
}

}  // namespace seqtrain::cli
