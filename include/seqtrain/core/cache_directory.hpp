#pragma once

#include <cstdlib>
#include <filesystem>

namespace seqtrain {

/// Returns `seqtrain` in the user's cache directory: `$XDG_CACHE_HOME`, else `$HOME/.cache`.
inline std::filesystem::path cache_directory() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME")) {
    if (*cache != '\0') return std::filesystem::path{cache} / "seqtrain";
  }
  const char* home = std::getenv("HOME");
  return std::filesystem::path{home == nullptr ? "." : home} / ".cache/seqtrain";
}

}  // namespace seqtrain
