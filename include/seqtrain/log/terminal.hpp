#pragma once

#include <string_view>

#include <unistd.h>

namespace seqtrain::log {

/// The characters that move a terminal's cursor to the start of its line and wipe the line.
inline constexpr std::string_view clear_line = "\r\x1b[K";

inline bool stdout_is_terminal() {
  return ::isatty(STDOUT_FILENO) == 1;
}

}  // namespace seqtrain::log
