#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace seqtrain {

/// A function that looks up an environment variable. An empty variable counts as not set. Tests
/// pass their own function.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// Looks up a variable in the environment of this process.
inline std::optional<std::string> process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr || *value == '\0') return {};
  return value;
}

/// Returns the number of a run's processes on this machine, which `torchrun` gives, at least 1.
[[nodiscard]] inline std::int64_t local_processes() {
  std::int64_t processes = 1;
  const std::string text = process_environment("LOCAL_WORLD_SIZE").value_or("");
  std::from_chars(text.data(), text.data() + text.size(), processes);
  return std::max<std::int64_t>(1, processes);
}

/// Returns `seqtrain` in the user's cache directory: `$XDG_CACHE_HOME`, else `$HOME/.cache`.
inline std::filesystem::path cache_directory() {
  if (const auto cache = process_environment("XDG_CACHE_HOME")) {
    return std::filesystem::path{*cache} / "seqtrain";
  }
  return std::filesystem::path{process_environment("HOME").value_or(".")} / ".cache/seqtrain";
}

}  // namespace seqtrain
