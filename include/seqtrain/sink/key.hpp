#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <seqtrain/core/error.hpp>

namespace seqtrain::sink {

/// Throws `Error` unless `key` can name an object in every sink: a relative path without control
/// characters, whose segments between `/` are not empty, `.` or `..`.
inline void check_key(std::string_view key) {
  const auto demand = [key](bool good, const char* expected) {
    if (!good) throw Error{expected, {.object = "key '" + std::string{key} + "'"}};
  };
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  demand(std::none_of(key.begin(), key.end(), control), "must not hold control characters");
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find('/', begin), key.size());
    const std::string_view name = key.substr(begin, end - begin);
    demand(!name.empty() && name != "." && name != "..", "must be a relative path of names");
    begin = end + 1;
  }
}

}  // namespace seqtrain::sink
