#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/lanes.hpp>

namespace seqtrain::kernels {

/// The angles of rotary positions (Su et al. 2021): pair i of a head's first `size` columns, which
/// are columns i and i + size / 2, rotates by position * base^(-2 i / size). The columns of a head
/// after the first `size` stay as they are. After `pair_neighbours` pair i are columns 2 i and
/// 2 i + 1.
class RotaryAngles {
 public:
  RotaryAngles(double base, std::size_t size) : RotaryAngles{base, size, size} {}

  /// Takes the number of a head's columns, too.
  RotaryAngles(double base, std::size_t size, std::size_t columns)
      : half_{size / 2}, columns_{columns} {
    for (std::size_t i = 0; i < half_; ++i) {
      // In fp32, as transformers does.
      const auto exponent = static_cast<float>(2 * i) / static_cast<float>(2 * half_);
      frequencies_.push_back(1 / std::pow(static_cast<float>(base), exponent));
    }
  }

  /// Takes the angle of each pair for one position, and the number of a head's columns. Cosines and
  /// sines are multiplied by `magnitude`.
  RotaryAngles(std::vector<float> frequencies, double magnitude, std::size_t columns)
      : half_{frequencies.size()},
        columns_{columns},
        magnitude_{static_cast<float>(magnitude)},
        frequencies_{std::move(frequencies)} {}

  void pair_neighbours() { neighbours_ = true; }

  /// Computes the angles of positions below `length` that have not been computed yet.
  void reserve(std::size_t length) {
    cosines_.reserve(length * half_);
    sines_.reserve(length * half_);
    for (std::size_t position = cosines_.size() / half_; position < length; ++position) {
      for (std::size_t i = 0; i < half_; ++i) {
        const float angle = static_cast<float>(position) * frequencies_[i];
        cosines_.push_back(std::cos(angle) * magnitude_);
        sines_.push_back(std::sin(angle) * magnitude_);
      }
    }
  }

  /// Rotates rows of x by their positions, from 0 on, in place; backwards if `sign` is -1. Rows
  /// [heads, columns] are `ld` apart.
  template <class T>
  void rotate(T* x, std::size_t ld, std::size_t rows, std::size_t heads, float sign) const {
    if (neighbours_) return rotate_neighbours(x, ld, rows, heads, sign);
    const float* const cosines = cosines_.data();
    const float* const sines = sines_.data();
    const std::size_t half = half_, columns = columns_;
    vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
      typename Width<width>::Floats c, s, a, b;
      for (std::size_t row = 0; row < rows; ++row) {
        const float* const cosine = cosines + row * half;
        const float* const sine = sines + row * half;
        for (std::size_t head = 0; head < heads; ++head) {
          T* const first = x + row * ld + head * columns;
          T* const second = first + half;
          std::size_t i = 0;
          for (; i + width <= half; i += width) {
            load(cosine + i, c);
            load(sine + i, s);
            s *= sign;
            load(first + i, a);
            load(second + i, b);
            store(first + i, a * c - b * s);
            store(second + i, b * c + a * s);
          }
          for (; i < half; ++i) {
            const float p = to_float(first[i]);
            const float q = to_float(second[i]);
            first[i] = from_float<T>(p * cosine[i] - q * sine[i] * sign);
            second[i] = from_float<T>(q * cosine[i] + p * sine[i] * sign);
          }
        }
      }
    });
  }

 private:
  template <class T>
  void rotate_neighbours(T* x, std::size_t ld, std::size_t rows, std::size_t heads,
                         float sign) const {
    const float* const cosines = cosines_.data();
    const float* const sines = sines_.data();
    const std::size_t half = half_, columns = columns_;
    vectorised([=](auto) SEQTRAIN_INLINE_LAMBDA {
      for (std::size_t row = 0; row < rows; ++row) {
        const float* const cosine = cosines + row * half;
        const float* const sine = sines + row * half;
        for (std::size_t head = 0; head < heads; ++head) {
          T* const pairs = x + row * ld + head * columns;
          for (std::size_t i = 0; i < half; ++i) {
            const float p = to_float(pairs[2 * i]);
            const float q = to_float(pairs[2 * i + 1]);
            pairs[2 * i] = from_float<T>(p * cosine[i] - q * sine[i] * sign);
            pairs[2 * i + 1] = from_float<T>(q * cosine[i] + p * sine[i] * sign);
          }
        }
      }
    });
  }

  std::size_t half_;
  std::size_t columns_;
  bool neighbours_ = false;
  float magnitude_ = 1;
  std::vector<float> frequencies_;  ///< [size / 2]
  std::vector<float> cosines_;      ///< [positions, size / 2]
  std::vector<float> sines_;
};

}  // namespace seqtrain::kernels
