#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <vector>

#include <ATen/cpu/Utils.h>
#include <ATen/native/CPUBlas.h>
#include <c10/util/BFloat16.h>

#include <seqtrain/kernels/ahead.hpp>
#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/float_product.hpp>
#include <seqtrain/kernels/instructions.hpp>
#include <seqtrain/kernels/pack.hpp>
#include <seqtrain/kernels/tile_product.hpp>
#include <seqtrain/model/cpu/buffer.hpp>

namespace seqtrain::model::cpu {

using kernels::Ahead;
using kernels::Bf16;

/// Columns of a panel of a packed factor.
inline constexpr std::size_t panel = 64;

/// Tells whether products of bfloat16 and int8 are computed by the processor's AMX tiles. The
/// system must allow the process to use them.
[[nodiscard]] inline bool has_tiles() {
#if SEQTRAIN_HAS_CLONES
  static const bool answer = kernels::instruction::has_tiles() && at::cpu::init_amx();
  return answer;
#else
  return false;
#endif
}

/// Tells whether products of T are computed by tiles.
template <class T>
[[nodiscard]] bool multiplies_by_tiles() {
  return has_tiles() && sizeof(T) == sizeof(Bf16);
}

/// Returns the number of rows that a product's kernel computes at once. AMX has tiles of 16 rows,
/// and a part of a tile takes as long as a whole one.
template <class T>
[[nodiscard]] std::size_t rows_at_once() {
  return multiplies_by_tiles<T>() ? 16 : 8;
}

/// Fetches all that is ahead at once, unless products of T are by tiles: they take less time than
/// that would.
template <class T>
void fetch_unless_tiles(const Ahead& ahead) {
  if (!multiplies_by_tiles<T>()) kernels::fetch(ahead);
}

namespace detail {

template <class T>
void call_brgemm(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t ld_a,
                 const T* b, float* c, std::int64_t ld_c, bool accumulate) {
  constexpr bool is_narrow = sizeof(T) == sizeof(Bf16);
  using Number = std::conditional_t<is_narrow, at::BFloat16, float>;
  at::native::cpublas::brgemm(m, n, k, ld_a, n, ld_c, accumulate,
                              reinterpret_cast<const Number*>(a),
                              reinterpret_cast<const Number*>(b), c, /*is_vnni=*/is_narrow);
}

/// Computes the bfloat16 product by the fp32 kernel. Products of bfloat16 numbers are exact in
/// fp32.
inline void call_widened(std::int64_t m, std::int64_t n, std::int64_t k, const Bf16* a,
                         std::int64_t ld_a, const Bf16* b, float* c, std::int64_t ld_c,
                         bool accumulate) {
  thread_local std::vector<float> wide_a, wide_b;
  const auto rows = static_cast<std::size_t>(m);
  const auto columns = static_cast<std::size_t>(n);
  const auto depth = static_cast<std::size_t>(k);
  wide_a.resize(rows * depth);
  wide_b.resize(depth * columns);
  kernels::widen(a, static_cast<std::size_t>(ld_a), rows, depth, wide_a.data());
  kernels::unpack_panel(b, depth, columns, wide_b.data());
  call_brgemm(m, n, k, wide_a.data(), k, wide_b.data(), c, ld_c, accumulate);
}

/// Tells whether oneDNN multiplies bfloat16 on this machine.
inline bool has_bf16_kernels() {
  static const bool works = [] {
    try {
      const std::vector<Bf16> zeros(2 * panel);
      float c[panel];
      call_brgemm(1, panel, 2, zeros.data(), 2, zeros.data(), c, panel, false);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }();
  return works;
}

/// Tells whether products are computed by `kernels::multiply_floats`.
template <class T>
[[nodiscard]] bool multiplies_itself() {
  static const bool answer =
      kernels::has_float_products() && (sizeof(T) == sizeof(float) || !has_bf16_kernels());
  return answer;
}

template <class T>
void product(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t ld_a,
             const T* b, float* c, std::int64_t ld_c, bool accumulate) {
  if constexpr (sizeof(T) == sizeof(Bf16)) {
    if (!has_bf16_kernels()) return call_widened(m, n, k, a, ld_a, b, c, ld_c, accumulate);
  }
  call_brgemm(m, n, k, a, ld_a, b, c, ld_c, accumulate);
}

}  // namespace detail

/// Releases this thread's AMX tiles when it is destroyed, because torch's products expect none.
/// Create one around calls of `multiply_panel` on threads that torch uses too.
struct TileGuard {
  TileGuard() = default;
  TileGuard(const TileGuard&) = delete;
  TileGuard& operator=(const TileGuard&) = delete;
  ~TileGuard() {
#if SEQTRAIN_HAS_CLONES
    kernels::tile::release();
#endif
  }
};

/// Computes c [m, columns] = (accumulate ? c : 0) + a [m, k] b. Rows of a and c are `ld_a` and
/// `ld_c` apart, and b [k, columns] is packed as one panel (kernels/pack.hpp). Without tiles and
/// without products of its own it uses oneDNN's batch-reduced product, which keeps a kernel for
/// each shape that it has met, so m is divided into blocks. k is divided into blocks whose part of
/// b stays in the second-level cache. What is ahead is fetched before or during the product.
template <class T>
void multiply_panel(std::size_t m, std::size_t k, const T* a, std::size_t ld_a, const T* b,
                    float* c, std::size_t ld_c, bool accumulate, std::size_t columns = panel,
                    const Ahead& ahead = {}) {
#if SEQTRAIN_HAS_CLONES
  if constexpr (sizeof(T) == sizeof(Bf16)) {
    if (has_tiles()) {
      return kernels::tile::multiply(m, k, a, ld_a, b, columns, c, ld_c, accumulate, ahead);
    }
  }
#endif
  kernels::fetch(ahead);
  if (detail::multiplies_itself<T>()) {
    thread_local Buffer<float> scratch;
    return kernels::multiply_floats(
        m, k, a, ld_a, b, columns, c, ld_c, accumulate,
        scratch.reserve(kernels::float_product::scratch<T>(m, columns)));
  }
  constexpr std::size_t m_block = sizeof(T) == sizeof(Bf16) ? 256 : 64;
  constexpr std::size_t k_block = sizeof(T) == sizeof(Bf16) ? 768 : 384;
  const auto size = [](std::size_t value) { return static_cast<std::int64_t>(value); };
  for (std::size_t row = 0; row < m; row += m_block) {
    for (std::size_t i = 0; i < k; i += k_block) {
      detail::product(size(std::min(m_block, m - row)), size(columns),
                      size(std::min(k_block, k - i)), a + row * ld_a + i, size(ld_a),
                      b + i * columns, c + row * ld_c, size(ld_c), accumulate || i > 0);
    }
  }
}

}  // namespace seqtrain::model::cpu
