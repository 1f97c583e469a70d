#pragma once

#include <string_view>

#include <unistd.h>

namespace seqtrain::report {

/// Takes a terminal back to the beginning of its line and wipes it.
inline constexpr std::string_view clear_line = "\r\x1b[K";

inline bool stdout_is_terminal() {
  return ::isatty(STDOUT_FILENO) == 1;
}

}  // namespace seqtrain::report
