#pragma once

#include <cstddef>
#include <cstdint>

#include <seqtrain/core/random.hpp>

namespace seqtrain::tests::sim {

/// The random numbers of one simulated history (SplitMix64). All random decisions of a history use
/// one object, so the seed determines the history.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_{random::scramble(seed)} {}

  std::uint64_t next() { return random::scramble(state_ += 0x9E3779B97F4A7C15u); }

  /// Returns true with this probability.
  bool chance(double probability) { return random::to_double(next()) < probability; }

  /// Returns an integer in [0, bound); `bound` must be above 0.
  std::size_t below(std::size_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::size_t>(Wide{next()} * bound >> 64);
  }

 private:
  std::uint64_t state_;
};

}  // namespace seqtrain::tests::sim
