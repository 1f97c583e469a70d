#pragma once

#include <iostream>
#include <string_view>

namespace seqtrain::report {

/// Prints lines of a program's log to stdout, at once. Nothing is printed for an empty text.
inline void say(std::string_view text) {
  if (text.empty()) return;
  std::cout << text;
  if (text.back() != '\n') std::cout << '\n';
  std::cout << std::flush;
}

}  // namespace seqtrain::report
