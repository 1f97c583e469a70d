#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <seqtrain/core/parse_number.hpp>

namespace seqtrain::train {

/// The front of a checkpoint's name, before its step.
inline constexpr std::string_view checkpoint_prefix = "checkpoint-";

/// Returns `checkpoint-<step>`, the name of a saved fit, which transformers uses too.
inline std::string checkpoint_name(std::int64_t step) {
  return std::string{checkpoint_prefix} + std::to_string(step);
}

/// Returns the step in a name `checkpoint-<step>`, or nothing if the name has another form.
inline std::optional<std::int64_t> checkpoint_step(std::string_view name) {
  if (!name.starts_with(checkpoint_prefix)) return {};
  name.remove_prefix(checkpoint_prefix.size());
  const auto step = parse_number<std::int64_t>(name);
  if (!step || *step < 0 || (name.size() > 1 && name.front() == '0')) return {};
  return step;
}

}  // namespace seqtrain::train
