#pragma once

#include <cstddef>

namespace seqtrain::model::cpu {

/// Returns `count` rounded up to a multiple of `unit`.
[[nodiscard]] constexpr std::size_t round_up(std::size_t count, std::size_t unit) {
  return (count + unit - 1) / unit * unit;
}

}  // namespace seqtrain::model::cpu
