#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/kernels/activation.hpp>
#include <seqtrain/kernels/dropout.hpp>
#include <seqtrain/kernels/lanes.hpp>
#include <seqtrain/kernels/pack.hpp>
#include <seqtrain/model/cpu/buffer.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::model::cpu {

/// The side of a linear layer from which a product comes: its inputs in the forward pass, and the
/// gradients of its outputs in the backward pass.
enum class Pass { forward, backward };

/// A thread's memory for rows that adapters have reduced to their ranks, and the place of the rows
/// in the dropout of adapters' inputs.
template <class T>
struct ReducedRows {
  Buffer<float> sums;
  Buffer<T> rows;
  Buffer<T> dropped;
  std::uint64_t site = 0;  ///< a number of the seed, the batch and the step; 0 for no dropout
  std::size_t row = 0;     ///< number of the first row in its matrix

  /// Sets the site and the row from which dropout follows.
  void drop_at(std::uint64_t new_site, std::size_t new_row) { site = new_site, row = new_row; }
};

/// The adapters of the linear layers of one input, packed for the products of both passes. Reduced
/// rows have `columns` columns for each linear layer: its rank, and zeros up to a multiple of 16.
template <class T>
class LowRankMaps {
 public:
  /// The inputs or the outputs of a linear layer, as columns of the matrix of all linear layers.
  struct Side {
    std::size_t begin;
    std::size_t size;
    Buffer<T> reduce = {};  ///< [size, columns], the factor times the linear layer's scale
    Buffer<T> expand = {};  ///< [depth, size], in panels

    /// Tells whether a column is one of this side.
    [[nodiscard]] bool has(std::size_t column) const {
      return column >= begin && column < begin + size;
    }
  };
  /// The adapter of one linear layer.
  struct Map {
    LowRank low;
    std::size_t rank;
    std::size_t columns;
    std::size_t depth;  ///< its rank, rounded up to an even number, as products need it
    std::size_t first;  ///< its first column of reduced rows
    Side in, out;
    std::uint64_t number = 0;  ///< among the adapters of an encoder

    /// Returns the side that the pass reads.
    [[nodiscard]] const Side& side(Pass pass) const { return pass == Pass::forward ? in : out; }
    /// Returns the dropout of its input at a site, if there is one.
    [[nodiscard]] std::optional<kernels::HashDropout> dropout(std::uint64_t site) const {
      if (site == 0 || low.dropout == 0) return {};
      return kernels::HashDropout{random::mix(site, number), low.dropout};
    }
  };

  /// Adds the adapter of the next linear layer, if it has one.
  void add(const LowRank& low, std::size_t in, std::size_t out) {
    in_ = in;
    if (low.a.defined()) {
      const auto rank = static_cast<std::size_t>(low.a.size(0));
      const std::size_t columns = round_up(rank, kernels::lanes);
      maps_.push_back({low, rank, columns, round_up(rank, 2), width_, {0, in}, {out_, out}});
      width_ += columns;
    }
    out_ += out;
  }

  [[nodiscard]] const std::vector<Map>& maps() const { return maps_; }
  /// Numbers the adapters from `next` on, so that each has a dropout of its own. Tells whether they
  /// have one.
  bool number(std::uint64_t& next) {
    for (Map& map : maps_) map.number = next++;
    return !maps_.empty() && maps_.front().low.dropout > 0;
  }
  /// Returns the number of columns of reduced rows, which is 0 if there are no adapters.
  [[nodiscard]] std::size_t width() const { return width_; }

  /// Returns how many changes of the factors have been counted.
  [[nodiscard]] std::int64_t changes() const {
    std::int64_t sum = 0;
    for (const Map& m : maps_) sum += tensor::changes_of(m.low.a) + tensor::changes_of(m.low.b);
    return sum;
  }

  /// Uses no operators of ATen, because threads of a team call it.
  void pack() {
    for (Map& map : maps_) {
      pack(map, map.in, map.low.a, map.in.size, 1);
      pack(map, map.out, map.low.b, 1, map.rank);
    }
  }

  /// Packs the adapters for the forward pass alone, and frees their tensors.
  void keep_forward_only() {
    pack();
    for (Map& map : maps_) {
      map.low = {};
      map.in.expand = {};
      map.out.reduce = {};
    }
  }

  /// Computes `to` [rows, width] = s dropout(x) Aᵀ or s d_y B. `sums` has [rows, width].
  void reduce(Pass pass, const T* x, std::size_t rows, float* sums, T* to,
              ReducedRows<T>& memory) const {
    const bool ahead = pass == Pass::forward;
    for (const Map& map : maps_) {
      const Side& side = map.side(pass);
      const T* from = x + side.begin;
      if (const auto dropout = map.dropout(ahead ? memory.site : 0)) {
        T* const dropped = memory.dropped.reserve(rows * in_);
        kernels::drop(x, in_, *dropout, memory.row * in_, in_, dropped, in_, rows, in_);
        from = dropped;
      }
      multiply_panel(rows, side.size, from, ahead ? in_ : out_, side.reduce.data(),
                     sums + map.first, width_, false, map.columns);
    }
    kernels::convert(sums, width_, to, width_, rows, width_);
  }

  /// Adds what the adapters give to `panel` columns of the result of a pass, from `column` on.
  void expand(Pass pass, const T* reduced, std::size_t rows, std::size_t column, float* to,
              std::size_t ld, const ReducedRows<T>& memory) const {
    thread_local Buffer<float> block;
    for (const Map& map : maps_) {
      const Side& side = map.side(pass == Pass::forward ? Pass::backward : Pass::forward);
      if (!side.has(column)) continue;
      const T* const factor = side.expand.data() + (column - side.begin) * map.depth;
      const auto dropout = map.dropout(pass == Pass::backward ? memory.site : 0);
      float* const sum = dropout ? block.reserve(rows * panel) : to;
      multiply_panel(rows, map.depth, reduced + map.first, width_, factor, sum,
                     dropout ? panel : ld, !dropout);
      if (!dropout) continue;
      kernels::drop<true>(sum, panel, *dropout, memory.row * in_ + column, in_, to, ld, rows,
                          panel);
    }
  }

 private:
  /// Packs a factor [rank, size] with these strides of rows and columns.
  static void pack(const Map& map, Side& side, const at::Tensor& factor, std::size_t row,
                   std::size_t column) {
    const auto* const from = factor.const_data_ptr<float>();
    const auto scale = static_cast<float>(map.low.scale);
    const std::size_t count = map.columns * side.size;
    std::vector<float> rows(map.depth * side.size);  // [depth, size]
    std::vector<float> scaled(count);                // [size, columns]
    for (std::size_t r = 0; r < map.rank; ++r) {
      for (std::size_t i = 0; i < side.size; ++i) {
        const float number = from[r * row + i * column];
        rows[r * side.size + i] = number;
        scaled[i * map.columns + r] = number * scale;
      }
    }
    kernels::pack_panel(scaled.data(), map.columns, side.size, map.columns,
                        side.reduce.reserve(count));
    T* const expand = side.expand.reserve(rows.size());
    for (std::size_t at = 0; at < side.size; at += panel) {
      kernels::pack_panel(rows.data() + at, side.size, map.depth, panel, expand + at * map.depth);
    }
  }

  std::size_t in_ = 0;
  std::size_t out_ = 0;
  std::size_t width_ = 0;
  std::vector<Map> maps_;
};

}  // namespace seqtrain::model::cpu
