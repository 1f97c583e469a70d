#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/dot_tiles.hpp>
#include <seqtrain/kernels/instructions.hpp>
#include <seqtrain/kernels/lanes.hpp>
#include <seqtrain/kernels/tile_product.hpp>

namespace seqtrain::kernels {

/// Tells whether the processor has an instruction that adds four products of bytes to an int32, for
/// vectors of `width` numbers.
template <std::size_t width>
SEQTRAIN_INLINE bool has_int8_instructions() {
#if SEQTRAIN_HAS_CLONES
  if constexpr (width == 16) return __builtin_cpu_supports("avx512vnni") != 0;
  if constexpr (width == 8) return instruction::has_avx_vnni();
#endif
  return false;
}

/// Tells whether products of bytes are computed by `dot::SmallBytes`, for vectors of `width`
/// numbers.
template <std::size_t width>
SEQTRAIN_INLINE bool multiplies_small_bytes() {
#if SEQTRAIN_HAS_CLONES
  if constexpr (width == 8) return !instruction::has_avx_vnni();
#endif
  return false;
}

/// Tells whether the processor has instructions for products of bytes, for the vectors that
/// `vectorised` uses.
inline bool has_int8_instructions() {
  bool result = false;
  bool* const answer = &result;
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    *answer = has_int8_instructions<width>() || multiplies_small_bytes<width>();
  });
  return result;
}

/// How numbers are quantized: they become whole numbers from -`most` to `most`, and are stored as
/// bytes that are `offset` larger.
struct Int8Range {
  std::int32_t most;
  std::int32_t offset;
};

/// The ranges of the two factors of a product. Activations are stored as unsigned bytes, because
/// processors multiply unsigned bytes by signed ones.
struct Int8Ranges {
  Int8Range activations{127, 128};
  Int8Range weights{127, 128};
};

/// Returns the ranges for this processor. They are smaller where products of bytes would saturate.
inline Int8Ranges int8_ranges() {
  Int8Ranges result;
  Int8Ranges* const answer = &result;
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    if (multiplies_small_bytes<width>()) {
      constexpr std::int32_t unsigned_most = dot::SmallBytes::most_unsigned;
      *answer = {{unsigned_most / 2, unsigned_most / 2}, {dot::SmallBytes::most_signed, 128}};
    }
  });
  return result;
}

/// Quantized rows: x is about (byte - offset) times the scale of its row.
struct QuantizedRows {
  std::uint8_t* bytes;  ///< [rows, n]
  float* scales;        ///< [rows]

  /// Returns the rows from `row` on.
  [[nodiscard]] QuantizedRows from(std::size_t row, std::size_t n) const {
    return {bytes + row * n, scales + row};
  }
};

/// Quantizes each row of x [rows, n] to a range: the scale is max |x| / `most` of that row, NaN if
/// a number is, so that a row's bytes do not depend on the others. n is a multiple of 16.
template <class T>
void quantize_rows(const T* x, std::size_t rows, std::size_t n, const QuantizedRows& to,
                   Int8Range range = int8_ranges().activations) {
  const auto most = static_cast<float>(range.most);
  const std::int32_t zero = 0x4b400000 - range.offset;
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    using Ints = typename Width<width>::Ints;
    constexpr float round = 12582912.0F;  // 1.5 * 2^23: adding it leaves an integer
    typename Width<width>::Floats in;
    for (std::size_t row = 0; row < rows; ++row) {
      Ints peaks = {};  // the bits of |x|, of which those of NaN are largest
      const auto rise = [](Ints& a, const Ints& b) SEQTRAIN_INLINE_LAMBDA { a = a > b ? a : b; };
      for (std::size_t i = 0; i < n; i += width) {
        load(x + row * n + i, in);
        rise(peaks, reinterpret_cast<Ints>(in) & 0x7fffffff);
      }
      fold<width / 2>(peaks, rise);
      const auto peak = std::bit_cast<float>(static_cast<std::int32_t>(peaks[0]));
      const float factor = peak > 0 ? most / peak : 0;
      to.scales[row] = peak / most;
      for (std::size_t i = 0; i < n; i += width) {
        load(x + row * n + i, in);
        const Ints q = reinterpret_cast<Ints>(in * factor + round) - zero;
        const auto bytes = __builtin_convertvector(q, typename Width<width>::Bytes);
        std::memcpy(to.bytes + row * n + i, &bytes, sizeof bytes);
      }
    }
  });
}

/// Returns the relative error of quantizing x [rows, n]: the sum over the columns of the error's
/// norm, divided by the sum of the norms of the differences from the column's mean. It is about
/// 0.01 if the columns have similar sizes, and grows if some are far larger. Returns 0 if all rows
/// are equal, and NaN if a number is.
template <class T>
double quantization_loss(const T* x, std::size_t rows, std::size_t n, const QuantizedRows& found) {
  const std::int32_t offset = int8_ranges().activations.offset;
  double errors = 0;
  double differences = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0;
    double squares = 0;
    double error_squares = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      const double exact = to_float(x[row * n + i]);
      const double error =
          exact - static_cast<double>(found.scales[row]) * (found.bytes[row * n + i] - offset);
      sum += exact;
      squares += exact * exact;
      error_squares += error * error;
    }
    errors += std::sqrt(error_squares);
    differences += std::sqrt(std::max(0.0, squares - sum * sum / static_cast<double>(rows)));
  }
  return differences > 0 || std::isnan(errors) ? errors / differences : 0;
}

/// The quantized weights of a panel of output channels of a linear layer: a weight is about its
/// byte times the scale of its channel.
struct Int8Panel {
  std::int8_t* weights;  ///< [k / 4][columns][4]
  std::int32_t*
      excess;     ///< [columns], the part of each sum that comes from the activations' offset
  float* scales;  ///< [columns], max |weight| / `int8_ranges().weights.most`
};

/// Quantizes and packs the weights [columns, k] of a panel. k is a multiple of 16.
inline void quantize_panel(const float* weights, std::size_t k, std::size_t columns,
                           const Int8Panel& to) {
  const Int8Ranges ranges = int8_ranges();
  std::vector<std::uint8_t> bytes(k);
  for (std::size_t column = 0; column < columns; ++column) {
    quantize_rows(weights + column * k, 1, k, {bytes.data(), to.scales + column}, ranges.weights);
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < k; ++i) {
      const std::int32_t q = bytes[i] - ranges.weights.offset;
      to.weights[(i / 4 * columns + column) * 4 + i % 4] = static_cast<std::int8_t>(q);
      sum += q;
    }
    to.excess[column] = ranges.activations.offset * sum;
  }
}

namespace detail {

/// Computes the sums [rows, columns] of products of bytes.
template <std::size_t multiple>
void sum_byte_products(const QuantizedRows& x, std::size_t rows, std::size_t k,
                       const std::int8_t* weights, std::size_t columns, std::int32_t* sums) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    using Ints = typename Width<width>::Ints;
    const WordFactors factors{x.bytes, k / 4, weights, columns, k / 4};
    const auto keep = [=](std::size_t row, std::size_t column, const Ints& sum)
                          SEQTRAIN_INLINE_LAMBDA {
                            std::memcpy(sums + row * columns + column, &sum, sizeof sum);
                          };
    if constexpr (width > 4) {
      if (has_int8_instructions<width>()) {
        return dot_product<dot::Bytes, Ints, multiple>(factors, rows, columns, keep);
      }
    }
    if constexpr (width == 8) {
      if (multiplies_small_bytes<width>()) {
        return dot_product<dot::SmallBytes, Ints, multiple>(factors, rows, columns, keep);
      }
    }
    dot_product<dot::BytesAsHalves, Ints, multiple>(factors, rows, columns, keep);
  });
}

/// Calls use(row, column, y) with each vector of the results, given the sums of bytes.
template <class Use>
void give_scaled(const QuantizedRows& x, std::size_t rows, const Int8Panel& panel,
                 std::size_t columns, const std::int32_t* sums, Use use) {
  for_each_vector(rows, columns, [=](auto at) SEQTRAIN_INLINE_LAMBDA {
    using Floats = typename decltype(at)::Floats;
    typename decltype(at)::Ints of_row, excess;
    Floats scales;
    std::memcpy(&of_row, at.in(sums, columns), sizeof of_row);
    std::memcpy(&excess, panel.excess + at.column, sizeof excess);
    load(panel.scales + at.column, scales);
    const Floats y = __builtin_convertvector(of_row - excess, Floats) * (scales * x.scales[at.row]);
    use(at.row, at.column, y);
  });
}

}  // namespace detail

/// Computes y = x W^T for [rows, columns] and calls use(row, column, y) with each vector of y. x is
/// `quantized` [rows, k], and W the panel's weights. columns is a multiple of `multiple`, which is
/// a multiple of 16. The sums of bytes are exact for bytes within `int8_ranges()`. `sums` [rows,
/// columns] is scratch memory. `use` is a lambda marked SEQTRAIN_INLINE_LAMBDA that captures by
/// copy.
template <std::size_t multiple = lanes, class Use>
void multiply_int8(const QuantizedRows& x, std::size_t rows, std::size_t k, const Int8Panel& panel,
                   std::size_t columns, std::int32_t* sums, Use use) {
  detail::sum_byte_products<multiple>(x, rows, k, panel.weights, columns, sums);
  detail::give_scaled(x, rows, panel, columns, sums, use);
}

#if SEQTRAIN_HAS_CLONES
/// Computes what `multiply_int8` computes, with the same bits, by tiles (kernels/tile_product.hpp).
template <class Use>
void multiply_int8_by_tiles(const QuantizedRows& x, std::size_t rows, std::size_t k,
                            const Int8Panel& panel, std::size_t columns, std::int32_t* sums,
                            Use use, const Ahead& ahead = {}) {
  tile::multiply(rows, k, x.bytes, panel.weights, columns, sums, ahead);
  detail::give_scaled(x, rows, panel, columns, sums, use);
}
#endif

}  // namespace seqtrain::kernels
