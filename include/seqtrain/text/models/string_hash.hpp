#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace seqtrain::text {

/// Hashes what a string's characters are, however they are held: maps of strings are searched by
/// views.
struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>{}(text);
  }
};

}  // namespace seqtrain::text
