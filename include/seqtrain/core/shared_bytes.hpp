#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace seqtrain {

/// Bytes that live as long as any copy of this object.
struct SharedBytes {
  std::shared_ptr<const void> owner = {};
  std::span<const std::byte> bytes = {};

  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

}  // namespace seqtrain
