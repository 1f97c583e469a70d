#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <seqtrain/kernels/bf16_product.hpp>
#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/int8.hpp>
#include <seqtrain/kernels/lanes.hpp>
#include <seqtrain/model/cpu/buffer.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/cpu/linear.hpp>
#include <seqtrain/model/cpu/low_rank.hpp>

namespace seqtrain::model::cpu {

/// Neighbouring rows with the same adapter. Number 0 stands for none.
struct AdaptedRows {
  std::size_t adapter;
  std::size_t first;
  std::size_t count;
};

/// Rows that a linear layer is applied to, [rows, in].
struct LinearInput {
  const Bf16* values;
  kernels::QuantizedRows quantized;  ///< the values in int8, read by linear layers in int8 only
  std::span<const AdaptedRows> adapted = {};  ///< all rows in order; empty if none has an adapter
  Bf16* reduced = nullptr;                    ///< see `InferenceLinear::reduce`
};

/// A linear layer for predictions: its weights are packed in int8 or in bfloat16 for the forward
/// pass alone. They are not transposed. It may have several adapters, each for rows of its own.
class InferenceLinear {
 public:
  InferenceLinear(PackedLinear<Bf16> linear, bool int8) : linear_{std::move(linear)}, int8_{int8} {}

  [[nodiscard]] std::size_t in() const { return linear_.in(); }
  [[nodiscard]] std::size_t out() const { return linear_.out(); }
  [[nodiscard]] std::size_t panels() const { return out() / panel; }

  [[nodiscard]] bool int8() const { return int8_; }

  /// Computes in bf16 from the next packing on.
  void keep_in_bf16() {
    int8_ = false;
    weights_ = {};
    excess_ = {};
    scales_ = {};
  }

  /// See `PackedLinear::begin_packing`. In int8 the weights are packed once unless `always` is
  /// true.
  [[nodiscard]] std::size_t begin_packing(bool always) {
    if (!int8_) return linear_.begin_packing(always);
    if (packed_ && !always) return 0;
    packed_ = false;
    weights_.reserve(in() * out());
    excess_.reserve(out());
    scales_.reserve(out());
    bias_.resize(out());
    return panels();
  }
  void end_packing() {
    if (!int8_) return linear_.end_packing();
    packed_ = true;
  }
  /// See `PackedLinear::forget_weights`.
  void forget_weights() { linear_.forget_weights(); }

  /// Packs panel `index` of the weights.
  void pack(std::size_t index) {
    if (!int8_) return linear_.pack(index);
    const auto of = linear_.weights(index * panel);
    kernels::quantize_panel(of.weight, in(), panel, int8_panel(index));
    if (of.bias != nullptr) std::copy_n(of.bias, panel, bias_.data() + index * panel);
  }

  /// Takes the adapter of the same linear layer of another encoder, as the next number from 1 on.
  void take_adapter(InferenceLinear& other) {
    auto& maps = adapters_.emplace_back(other.linear_.take_low_rank());
    maps.keep_forward_only();
    reduced_columns_ = std::max(reduced_columns_, maps.width());
  }

  /// Returns the number of columns of reduced rows that the adapters need.
  [[nodiscard]] std::size_t reduced_columns() const { return reduced_columns_; }

  /// Computes s x Aᵀ of some rows of x for their adapter. The results are in `x.reduced` [rows,
  /// reduced_columns()]. `block` [rows, reduced_columns()] is scratch memory.
  void reduce(const LinearInput& x, const AdaptedRows& rows, float* block) const {
    const std::size_t ld = reduced_columns_;
    for (const auto& map : maps_of(rows)) {
      Bf16* const to = x.reduced + rows.first * ld + map.first;
      multiply<kernels::lanes>(
          {x.values + rows.first * in(), in()}, rows.count, in(), map.in.reduce.data(), map.columns,
          block, [=](std::size_t row, std::size_t column, const auto& y) SEQTRAIN_INLINE_LAMBDA {
            kernels::store(to + row * ld + column, y);
          });
    }
  }

  /// Computes y = W x + b, plus the outputs of the rows' adapters, and calls use(row, column, y)
  /// with each vector of the panel's columns. Call `reduce` before, if there are adapters. `block`
  /// [2, rows, panel] is scratch memory. `use` is a lambda marked SEQTRAIN_INLINE_LAMBDA that
  /// captures by copy.
  template <class Use>
  void operator()(const LinearInput& x, std::size_t rows, std::size_t index, float* block,
                  Use use) const {
    const std::size_t first = index * panel;
    const float* const bias = (int8_ ? bias_.data() : linear_.bias()) + first;
    // One expression for all rows, so that a compiler that fuses its operations does so in both.
    const auto add_bias = [=](auto give) SEQTRAIN_INLINE_LAMBDA {
      return [=]<class Floats>(std::size_t row, std::size_t column, const Floats& product)
                 SEQTRAIN_INLINE_LAMBDA {
                   Floats b;
                   kernels::load(bias + column, b);
                   give(row, column, product + b);
                 };
    };
    const auto give = [=](std::size_t row, std::size_t column, const auto& y)
                          SEQTRAIN_INLINE_LAMBDA { use(row, first + column, y); };
    if (x.adapted.empty()) return multiply_weights(x, rows, index, block, add_bias(give));
    float* const sums = block + rows * panel;
    multiply_weights(
        x, rows, index, block,
        add_bias([=](std::size_t row, std::size_t column, const auto& y)
                     SEQTRAIN_INLINE_LAMBDA { kernels::store(sums + row * panel + column, y); }));
    for (const AdaptedRows& some : x.adapted) expand(x, some, first, block, sums);
    each_vector(sums, rows, panel, give);
  }

 private:
  [[nodiscard]] std::span<const LowRankMaps<Bf16>::Map> maps_of(const AdaptedRows& rows) const {
    if (rows.adapter == 0) return {};
    return adapters_[rows.adapter - 1].maps();
  }

  /// Calls use(row, column, y) with each vector of y [rows, columns].
  template <class Use>
  static void each_vector(const float* values, std::size_t rows, std::size_t columns, Use use) {
    kernels::for_each_vector(rows, columns, [=](auto at) SEQTRAIN_INLINE_LAMBDA {
      typename decltype(at)::Floats y;
      kernels::load(at.in(values, columns), y);
      use(at.row, at.column, y);
    });
  }

  /// Adds to `products` [rows, panel] what the adapter of some rows gives to columns from `first`
  /// on.
  void expand(const LinearInput& x, const AdaptedRows& rows, std::size_t first, float* block,
              float* products) const {
    float* const to = products + rows.first * panel;
    for (const auto& map : maps_of(rows)) {
      if (!map.out.has(first)) continue;
      const Bf16* const factor = map.out.expand.data() + (first - map.out.begin) * map.depth;
      multiply<panel>({x.reduced + rows.first * reduced_columns_ + map.first, reduced_columns_},
                      rows.count, map.depth, factor, panel, block,
                      [=]<class Floats>(std::size_t row, std::size_t column, const Floats& y)
                          SEQTRAIN_INLINE_LAMBDA {
                            Floats sum;
                            kernels::load(to + row * panel + column, sum);
                            sum += y;
                            kernels::store(to + row * panel + column, sum);
                          });
    }
  }

  /// Rows that are `ld` numbers apart.
  struct Rows {
    const Bf16* values;
    std::size_t ld;
  };

  /// Computes y = x b, where b [k, columns] is packed as one panel, and calls use(row, column, y)
  /// with each vector of y. `block` [rows, columns] is scratch memory. Fetches what is `next`.
  template <std::size_t multiple, class Use>
  static void multiply(Rows x, std::size_t rows, std::size_t k, const Bf16* b, std::size_t columns,
                       float* block, Use use, const Ahead& next = {}) {
    const bool itself = multiplies_itself(k);
    each_part(rows, [&](std::size_t first, std::size_t count) {
      const Bf16* const values = x.values + first * x.ld;
      const Ahead ahead = first == 0 ? next : Ahead{};
      if (itself) {
        kernels::fetch(ahead);
        kernels::multiply_bf16<multiple>(values, x.ld, count, k, b, columns, block, columns);
      } else {
        multiply_panel(count, k, values, x.ld, b, block, columns, false, columns, ahead);
      }
      each_vector(block, count, columns, from_row(first, use));
    });
  }

  /// Calls part(first row, number of rows) for the rows whose products are computed before they are
  /// used: as many as stay in a core's first cache, or all if tiles compute them.
  template <class Part>
  static void each_part(std::size_t rows, const Part& part) {
    const std::size_t most = has_tiles() ? rows : 48;
    for (std::size_t row = 0; row < rows; row += most) part(row, std::min(most, rows - row));
  }

  /// Returns a lambda that calls `use` with rows that are counted from `first` on.
  template <class Use>
  static auto from_row(std::size_t first, Use use) {
    return [=](std::size_t row, std::size_t column, const auto& y)
               SEQTRAIN_INLINE_LAMBDA { use(first + row, column, y); };
  }

  /// Computes y = W x without the bias and the adapters.
  template <class Use>
  void multiply_weights(const LinearInput& x, std::size_t rows, std::size_t index, float* block,
                        Use use) const {
    if (int8_) return multiply_bytes(x.quantized, rows, index, block, use);
    const auto [weights, next] = linear_.forward_panel(index);
    multiply<panel>({x.values, in()}, rows, in(), weights, panel, block, use, next);
  }

  template <class Use>
  void multiply_bytes(const kernels::QuantizedRows& x, std::size_t rows, std::size_t index,
                      float* block, Use use) const {
    const kernels::Int8Panel weights = int8_panel(index);
    auto* const sums = reinterpret_cast<std::int32_t*>(block);
    each_part(rows, [&](std::size_t first, std::size_t count) {
      const auto some = x.from(first, in());
      const auto give = from_row(first, use);
#if SEQTRAIN_HAS_CLONES
      if (has_tiles()) {
        const bool is_last = (index + 1) * panel == linear_.out();
        const Ahead next =
            is_last ? Ahead{} : Ahead::of(weights.weights + panel * in(), panel * in());
        return kernels::multiply_int8_by_tiles(some, count, in(), weights, panel, sums, give, next);
      }
#endif
      kernels::multiply_int8<panel>(some, count, in(), weights, panel, sums, give);
    });
  }

  /// Tells whether products in bfloat16 are computed by the processor's instruction for them. Tiles
  /// are faster, unless k fills only a few.
  static bool multiplies_itself(std::size_t k) {
    static const bool answer = kernels::has_bf16_products();
    return answer && (!has_tiles() || k < 128);
  }

  [[nodiscard]] kernels::Int8Panel int8_panel(std::size_t index) const {
    const std::size_t first = index * panel;
    return {weights_.data() + first * in(), excess_.data() + first, scales_.data() + first};
  }

  PackedLinear<Bf16> linear_;
  bool int8_;
  bool packed_ = false;  // in int8
  Buffer<std::int8_t> weights_;
  Buffer<std::int32_t> excess_;
  Buffer<float> scales_;
  std::vector<float> bias_;
  std::vector<LowRankMaps<Bf16>> adapters_;
  std::size_t reduced_columns_ = 0;
};

/// The memory of a run of `InferencePass`, row-major.
struct InferenceRows {
  float* x;                          ///< [rows, hidden], the residual; before, the embeddings
  Bf16* input;                       ///< [rows, hidden], the residual in bf16
  Bf16* qkv;                         ///< [rows, 3 hidden]
  Bf16* context;                     ///< [rows, hidden]
  Bf16* near;                        ///< [rows, near], see `Convolution::gather`
  Bf16* active;                      ///< [rows, inner], or the input of the embeddings' projection
  Bf16* reduced;                     ///< [rows, columns], see `InferenceLinear::reduce`
  kernels::QuantizedRows quantized;  ///< [rows, hidden, inner or near]
};

}  // namespace seqtrain::model::cpu
