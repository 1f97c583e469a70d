#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace seqtrain::bench {

/// Removes `--name value` or `--name=value` from a program's arguments, so that the rest can go to
/// Google Benchmark. Returns the value, or `otherwise` if the argument is missing.
inline std::string take_argument(int& argc, char** argv, std::string_view name,
                                 std::string otherwise) {
  const std::string flag = "--" + std::string{name};
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool joined = argument.starts_with(flag + "=");
    if (!joined && (argument != flag || i + 1 == argc)) continue;
    std::string value{joined ? argument.substr(flag.size() + 1) : argv[i + 1]};
    const int taken = joined ? 1 : 2;
    std::copy(argv + i + taken, argv + argc + 1, argv + i);
    argc -= taken;
    return value;
  }
  return otherwise;
}

}  // namespace seqtrain::bench
