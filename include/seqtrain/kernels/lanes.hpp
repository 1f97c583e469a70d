#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/clones.hpp>

namespace seqtrain::kernels {

/// 16 floats that are computed with at once: one register where the machine has such wide ones,
/// several where not.
inline constexpr std::size_t lanes = 16;
using Lanes [[gnu::vector_size(64)]] = float;
using LaneBits [[gnu::vector_size(64)]] = std::uint32_t;
using LaneInts [[gnu::vector_size(64)]] = std::int32_t;
using LaneHalves [[gnu::vector_size(32)]] = std::uint16_t;

[[nodiscard]] constexpr std::size_t round_to_lanes(std::size_t n) {
  return (n + lanes - 1) / lanes * lanes;
}

SEQTRAIN_INLINE void load(const float* from, Lanes& to) {
  std::memcpy(&to, from, sizeof to);
}

SEQTRAIN_INLINE void load(const Bf16* from, Lanes& to) {
  LaneHalves halves;
  std::memcpy(&halves, from, sizeof halves);
  to = reinterpret_cast<Lanes>(__builtin_convertvector(halves, LaneBits) << 16);
}

SEQTRAIN_INLINE void store(float* to, const Lanes& from) {
  std::memcpy(to, &from, sizeof from);
}

/// Rounds as `to_bf16` does.
SEQTRAIN_INLINE void store(Bf16* to, const Lanes& from) {
  const auto bits = reinterpret_cast<LaneBits>(from);
  const LaneBits rounded = bits + 0x7fff + ((bits >> 16) & 1);
  const LaneBits quiet = (bits & 0x7fffffff) > 0x7f800000 ? bits | 0x400000 : rounded;
  const auto halves = __builtin_convertvector(quiet >> 16, LaneHalves);
  std::memcpy(to, &halves, sizeof halves);
}

/// The sum of all lanes, halves first, so that it is the same on every machine.
SEQTRAIN_INLINE float sum(const Lanes& values) {
  float parts[lanes];
  store(parts, values);
  for (std::size_t width = lanes / 2; width > 0; width /= 2) {
    for (std::size_t i = 0; i < width; ++i) parts[i] += parts[i + width];
  }
  return parts[0];
}

SEQTRAIN_INLINE float largest(const Lanes& values) {
  float result = values[0];
  for (std::size_t i = 1; i < lanes; ++i) result = values[i] > result ? values[i] : result;
  return result;
}

/// e^x in each lane to 2 units in the last place for -87 <= x <= 88, 0 below. x = n ln 2 + r with
/// |r| <= ln 2 / 2, and e^r by its Taylor polynomial.
SEQTRAIN_INLINE void exponentiate(Lanes& x) {
  constexpr float round = 12582912.0F;  // 1.5 * 2^23: adding it leaves an integer
  const Lanes low = x < -87.0F ? Lanes{} - 87.0F : x;
  const Lanes clamped = low > 88.0F ? Lanes{} + 88.0F : low;
  const Lanes n = (clamped * 1.44269504F + round) - round;
  const Lanes r = (clamped - n * 0.693359375F) + n * 2.12194440e-4F;
  const Lanes p =
      1 + r * (1 + r * (0.5F + r * (1.0F / 6 + r * (1.0F / 24 + r * (1.0F / 120 + r / 720)))));
  const LaneInts power = (__builtin_convertvector(n, LaneInts) + 127) << 23;
  x = x < -87.0F ? Lanes{} : p * reinterpret_cast<Lanes>(power);
}

}  // namespace seqtrain::kernels
