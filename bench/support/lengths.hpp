#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <seqtrain/core/random.hpp>

namespace seqtrain::bench {

/// Returns lengths distributed like those of MultiNLI's pairs: around 40 ids, few above 100.
inline std::vector<std::uint32_t> pair_lengths(std::size_t count) {
  random::Stream stream{1, random::Purpose::data};
  std::vector<std::uint32_t> lengths(count);
  for (auto& length : lengths) {
    const std::uint64_t premise = 1 + stream.below(6) * stream.below(12);
    length = static_cast<std::uint32_t>(3 + premise + 3 + stream.below(20));
  }
  return lengths;
}

}  // namespace seqtrain::bench
