#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <seqtrain/core/error.hpp>

namespace seqtrain::sink {

/// Throws `Error` unless `key` can name an object in every sink: a relative path of segments
/// between `/`, none of them empty, `.` or `..`, and no control characters.
inline void check_key(std::string_view key) {
  const auto fail = [key](const char* problem) {
    throw Error{
        problem, {.object = "'" + std::string{key} + "'"}, "it cannot name a sink's object"};
  };
  for (const char c : key) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) fail("has a control character");
  }
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find('/', begin), key.size());
    const std::string_view segment = key.substr(begin, end - begin);
    if (segment.empty()) fail("is empty, or begins, ends or goes on with '/' where a name belongs");
    if (segment == "." || segment == "..") fail("has a segment that is not a name");
    begin = end + 1;
  }
}

}  // namespace seqtrain::sink
