#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace seqtrain::text {

/// Hashes strings and views alike, so that a map of strings can be searched by a view.
struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>{}(text);
  }
};

}  // namespace seqtrain::text
