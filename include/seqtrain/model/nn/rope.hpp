#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

namespace seqtrain::model {

/// The angles of rotary positions (Su et al. 2021): pair i of a head's numbers is rotated by the
/// position times base^(-2i / size), or by what a scaling for longer texts makes of it.
struct Rope {
  /// The ways to scale angles, by their names in config.json.
  enum class Scaling { none, linear, llama3, yarn };

  double base = 0;  ///< 0 if nothing is rotated
  Scaling scaling = Scaling::none;
  double factor = 1;  ///< slow angles are divided by it
  double slow = 1;    ///< rotations in the original length of an angle that is divided fully
  double fast = 4;    ///< rotations in the original length of an angle that is kept
  double original_length = 0;  ///< tokens of a text in pre-training
  double magnitude = 1;        ///< factor of cosines and sines
  bool whole_pairs = true;     ///< yarn's bounds are numbers of pairs, without fractions
  double share = 1;            ///< the part of a head's numbers that is rotated, from the first on
  bool neighbours = false;     ///< pairs are neighbouring numbers, not one of each half
  std::vector<float> given = {};  ///< the angles if a checkpoint has them, else empty

  bool operator==(const Rope&) const = default;
};

/// Returns how many of a head's `size` numbers are rotated.
[[nodiscard]] inline std::int64_t rotated_size(const Rope& rope, std::int64_t size) {
  return static_cast<std::int64_t>(static_cast<double>(size) * rope.share);
}

namespace detail {

/// Returns how much of pair i's angle yarn keeps (Peng et al. 2023).
[[nodiscard]] inline double kept_by_yarn(const Rope& rope, std::size_t size, std::size_t i) {
  const auto pair_of = [&](double rotations) {
    return static_cast<double>(size) *
           std::log(rope.original_length / (rotations * 2 * std::numbers::pi)) /
           (2 * std::log(rope.base));
  };
  double low = pair_of(rope.fast), high = pair_of(rope.slow);
  if (rope.whole_pairs) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(size) - 1);
  if (low == high) high += 0.001;
  return 1 - std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
}

/// Returns how much of an angle llama3's scaling keeps.
[[nodiscard]] inline double kept_by_llama3(const Rope& rope, double angle) {
  const double rotations = rope.original_length * angle / (2 * std::numbers::pi);
  return std::clamp((rotations - rope.slow) / (rope.fast - rope.slow), 0.0, 1.0);
}

}  // namespace detail

/// Returns the angle for one position of each pair of a head's `size` numbers.
[[nodiscard]] inline std::vector<float> angles(const Rope& rope, std::size_t size) {
  if (!rope.given.empty()) return rope.given;
  std::vector<float> result;
  for (std::size_t i = 0; i < size / 2; ++i) {
    const double angle =
        std::pow(rope.base, -2 * static_cast<double>(i) / static_cast<double>(size));
    double kept = rope.scaling == Rope::Scaling::none ? 1 : 0;
    if (rope.scaling == Rope::Scaling::yarn) kept = detail::kept_by_yarn(rope, size, i);
    if (rope.scaling == Rope::Scaling::llama3) kept = detail::kept_by_llama3(rope, angle);
    result.push_back(static_cast<float>(angle * kept + angle / rope.factor * (1 - kept)));
  }
  return result;
}

}  // namespace seqtrain::model
