#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>

namespace seqtrain::sink {

/// Throws `Error` unless `key` can name an object in every sink. Such a key is a relative path
/// without control characters and without segments that are empty or consist of one or two dots.
inline void check_key(std::string_view key) {
  const auto demand = [key](bool good, const char* expected) {
    if (!good) throw Error{expected, {.object = "key '" + std::string{key} + "'"}};
  };
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  demand(std::none_of(key.begin(), key.end(), control), "must not hold control characters");
  for (const std::string_view name : split(key, '/')) {
    demand(!name.empty() && name != "." && name != "..", "must be a relative path of names");
  }
}

}  // namespace seqtrain::sink
