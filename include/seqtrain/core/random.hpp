#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>
#include <ranges>

/// Random numbers that are pure functions of (seed, purpose, …, counter). They are equal on every
/// platform, in any order and on any thread, and no state has to be saved.
namespace seqtrain::random {

/// The purpose of random numbers. Different purposes have different numbers for one seed.
enum class Purpose : std::uint64_t {
  order = 1,
  dropout = 2,
  initialization = 3,
  data = 4,
  bootstrap = 5,
  tuning = 6
};

/// Maps 64-bit words one to one so that every input bit moves about half of the output bits
/// (variant 13 by Stafford of MurmurHash3's finalizer, as in SplitMix64).
[[nodiscard]] constexpr std::uint64_t scramble(std::uint64_t word) noexcept {
  word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9u;
  word = (word ^ word >> 27) * 0x94D049BB133111EBu;
  return word ^ word >> 31;
}

/// Mixes several words into one. If all words but one are fixed, different values of that word give
/// different results.
template <std::unsigned_integral... Words>
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t first, Words... rest) noexcept {
  constexpr std::uint64_t golden_ratio = 0x9E3779B97F4A7C15u;
  std::uint64_t state = scramble(first + golden_ratio);
  ((state = scramble(state + (std::uint64_t{rest} + 1) * golden_ratio)), ...);
  return state;
}

/// Returns a double in [0, 1) from a word's upper 53 bits.
[[nodiscard]] constexpr double to_double(std::uint64_t word) noexcept {
  return static_cast<double>(word >> 11) * 0x1p-53;
}

/// Returns a float in [0, 1) from a word's upper 24 bits.
[[nodiscard]] constexpr float to_float(std::uint64_t word) noexcept {
  return static_cast<float>(word >> 40) * 0x1p-24F;
}

/// Draws the numbers mix(key, 0), mix(key, 1), …
class Stream {
 public:
  /// Starts a stream. `path` selects one stream of a purpose, for example an epoch, a step and a
  /// layer.
  template <std::unsigned_integral... Path>
  constexpr Stream(std::uint64_t seed, Purpose purpose, Path... path) noexcept
      : key_{mix(seed, static_cast<std::uint64_t>(purpose), path...)} {}

  /// Returns the number at a place of the stream, whatever was drawn before.
  [[nodiscard]] constexpr std::uint64_t at(std::uint64_t counter) const noexcept {
    return mix(key_, counter);
  }

  constexpr std::uint64_t next() noexcept { return at(counter_++); }
  constexpr double uniform() noexcept { return to_double(next()); }

  /// Returns an integer in [0, bound), each equally likely. `bound` must be above 0 (Lemire 2019,
  /// "Fast random integer generation in an interval").
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    __extension__ using Wide = unsigned __int128;
    Wide product = Wide{next()} * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
      const std::uint64_t uneven = -bound % bound;
      while (static_cast<std::uint64_t>(product) < uneven) product = Wide{next()} * bound;
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

/// Shuffles a range; every order is equally likely (Fisher and Yates).
template <std::ranges::random_access_range R>
constexpr void shuffle(R&& range, Stream& stream) {
  const auto first = std::ranges::begin(range);
  for (auto left = std::ranges::distance(range); left > 1; --left) {
    const auto chosen = stream.below(static_cast<std::uint64_t>(left));
    std::ranges::iter_swap(first + (left - 1),
                           first + static_cast<std::iter_difference_t<decltype(first)>>(chosen));
  }
}

}  // namespace seqtrain::random
