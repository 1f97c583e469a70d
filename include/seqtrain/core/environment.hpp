#pragma once

#include <cstdlib>
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

}  // namespace seqtrain
