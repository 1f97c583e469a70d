#pragma once

#include <iostream>
#include <string>
#include <string_view>

namespace seqtrain::report {

/// Prints lines of a program's log to stdout, at once. Nothing is printed for an empty text.
inline void say(std::string_view text) {
  if (text.empty()) return;
  std::cout << text;
  if (text.back() != '\n') std::cout << '\n';
  std::cout << std::flush;
}

/// The same for programs whose stdout carries data.
inline void say_on_stderr(std::string_view line) {
  std::cerr << std::string{line} + "\n";
}

}  // namespace seqtrain::report
