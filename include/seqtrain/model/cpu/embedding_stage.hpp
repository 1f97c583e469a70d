#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <seqtrain/data/batch.hpp>
#include <seqtrain/kernels/activation.hpp>
#include <seqtrain/kernels/dropout.hpp>
#include <seqtrain/kernels/layer_norm.hpp>
#include <seqtrain/model/cpu/embeddings.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/cpu/layout.hpp>
#include <seqtrain/model/cpu/linear.hpp>
#include <seqtrain/model/cpu/rows.hpp>
#include <seqtrain/model/cpu/weight_gradients.hpp>

namespace seqtrain::model::cpu {

/// Both passes from ids to the residual and the first layer's input: embeddings, their norm if they
/// have one, dropout and, in families whose embeddings have another size than hidden states, a
/// linear layer. What the first layer reads may be normalized once more.
template <class T>
class EmbeddingStage {
 public:
  EmbeddingStage(Embeddings embeddings, std::optional<PackedLinear<T>> projection)
      : embeddings_{std::move(embeddings)}, projection_{std::move(projection)} {}

  [[nodiscard]] std::optional<PackedLinear<T>>& projection() { return projection_; }
  void round_words() { embeddings_.round_words(); }

  /// Tells whether the first layer reads what a norm makes of the residual.
  [[nodiscard]] bool has_first_norm() const { return embeddings_.first_norm.has_value(); }

  /// Tells whether anything of this stage learns.
  [[nodiscard]] bool learns() const {
    return embeddings_.learn() || (projection_ && projection_->low_rank().width() > 0);
  }

  /// Begins a pass. `rows` is the number of rows of all runs, or, if nothing is kept, of one run
  /// for each thread.
  void begin(const data::Batch& batch, const Layout& layout, kernels::HashDropout dropout,
             std::uint64_t adapters, std::size_t rows, bool keep) {
    embeddings_.prepare_norms();
    ids_ = embeddings_.ids(batch, layout);
    dropout_ = dropout;
    adapters_ = adapters;
    keeps_ = keep;
    if (projection_) {
      sums_.reserve(rows * size());
      embedded_.reserve(rows * size());
    }
    if (!keep) return;
    if (embeddings_.norm) norm_.reserve(layout.rows(), size());
    if (has_first_norm()) first_norm_.reserve(layout.rows(), hidden());
  }

  /// Computes `x` and `input` [count, hidden] of the rows from `row` on. `place` is the first row
  /// of this stage's own memory to use.
  void forward(std::size_t row, std::size_t count, std::size_t place, float* x, T* input,
               const Scratch<T>& scratch) const {
    float* const sums = projection_ ? sums_.data() + place * size() : x;
    T* const embedded = projection_ ? embedded_.data() + place * size() : input;
    embeddings_.add_up(ids_.data() + row, count, size(), sums);
    if (embeddings_.norm) {
      kernels::norm_and_drop<T>(sums, embeddings_.norm->weights(), dropout_, index_of(row),
                                kept(norm_, row, size(), sums, embedded), count, size());
    } else {
      if (dropout_.drops()) drop(row, count, sums);
      if (projection_ || !has_first_norm()) {
        kernels::convert(sums, size(), embedded, size(), count, size());
      }
    }
    if (projection_) project(row, count, embedded, x, input, scratch);
    if (!has_first_norm()) return;
    kernels::norm_and_drop<T>(x, embeddings_.first_norm->weights(), {}, 0,
                              kept(first_norm_, row, hidden(), scratch.wide, input), count,
                              hidden());
  }

  /// Sets the sums of a backward pass to zero.
  void begin_backward(std::size_t groups, std::size_t rows) {
    if (embeddings_.norm) norm_.gradients.reserve(groups, 1, size());
    if (has_first_norm()) first_norm_.gradients.reserve(groups, 1, hidden());
    if (!projection_) return;
    const std::size_t count = rows * projection_->out();
    std::fill_n(d_projected_.reserve(count), count, T{});
  }

  /// Computes the backward pass of a group, given the gradient of its `x` [count, hidden], up to
  /// the gradient of the embeddings' sums. With `has_first_norm()`, `d_normal` [count, hidden] is
  /// the gradient of what that norm gives the first layer. Overwrites both.
  void backward(std::size_t group, std::size_t row, std::size_t count, float* gradient,
                float* d_normal, const Scratch<T>& scratch) const {
    if (has_first_norm()) first_norm_backward(group, row, count, gradient, d_normal);
    float* sums = gradient;
    if (projection_) {
      sums = sums_.data() + row * size();
      project_backward(row, count, gradient, sums, scratch);
    }
    if (embeddings_.norm) {
      kernels::norm_and_drop_backward(sums, norm_.normal_of(row, size()), norm_.inverse_of(row),
                                      embeddings_.norm->weights(), dropout_, index_of(row),
                                      norm_.gradients.gamma(group, 0),
                                      norm_.gradients.beta(group, 0), count, size());
    } else if (dropout_.drops()) {
      drop(row, count, sums);
    }
    embeddings_.multiply_by_scale(sums, count * size());
  }

  /// Adds to the gradients of the parameters. `gradient` [rows, size] is read only if there is no
  /// projection. The first `rows_of_groups` rows belong to groups; the others fill the matrix up.
  void add_gradients(const float* gradient, std::size_t rows, std::size_t rows_of_groups,
                     WeightGradients<T>& weights) const {
    if (embeddings_.norm) norm_.gradients.add_to(*embeddings_.norm, 0);
    if (has_first_norm()) first_norm_.gradients.add_to(*embeddings_.first_norm, 0);
    if (embeddings_.learn()) {
      embeddings_.scatter(ids_, size(), projection_ ? sums_.data() : gradient);
    }
    if (!projection_) return;
    T* const rest = embedded_.data() + rows_of_groups * size();
    std::fill_n(rest, (rows - rows_of_groups) * size(), T{});
    const WeightProduct<T> product{&*projection_, embedded_.data(), d_projected_.data(), rows,
                                   adapters_};
    weights.add({&product, 1});
  }

 private:
  /// The results of a norm that its backward pass reads, and the sums of its weights' gradients.
  struct KeptNorm {
    Buffer<T> normal;       ///< [rows, columns], normalized
    Buffer<float> inverse;  ///< [rows], inverse standard deviations
    NormGradients gradients;

    void reserve(std::size_t rows, std::size_t columns) {
      normal.reserve(rows * columns);
      inverse.reserve(rows);
    }
    [[nodiscard]] T* normal_of(std::size_t row, std::size_t columns) const {
      return normal.data() + row * columns;
    }
    [[nodiscard]] float* inverse_of(std::size_t row) const { return inverse.data() + row; }
  };

  [[nodiscard]] std::size_t size() const { return embeddings_.size(); }
  [[nodiscard]] std::size_t hidden() const { return projection_ ? projection_->out() : size(); }

  /// Returns the places for the results of a norm of the rows from `row` on.
  [[nodiscard]] kernels::LayerNormResult<T> kept(const KeptNorm& norm, std::size_t row,
                                                 std::size_t columns, float* y, T* compact) const {
    if (!keeps_) return {y, compact, nullptr, nullptr};
    return {y, compact, norm.normal_of(row, columns), norm.inverse_of(row)};
  }

  /// Applies dropout to embeddings without a norm, or to their gradient.
  void drop(std::size_t row, std::size_t count, float* sums) const {
    kernels::drop(sums, size(), dropout_, index_of(row), size(), sums, size(), count, size());
  }

  void project(std::size_t row, std::size_t count, const T* embedded, float* x, T* input,
               const Scratch<T>& scratch) const {
    const std::size_t ld = hidden();
    scratch.reduced->drop_at(adapters_, row);
    Product<T>{Pass::forward, *projection_, embedded, count, *scratch.reduced}.each(
        scratch.blocks, [&](std::size_t column, const float* block) {
          const float* const bias = projection_->bias() + column;
          kernels::add_bias(block, panel, bias, x + column, ld, count, panel);
          kernels::convert(x + column, ld, input + column, ld, count, panel);
        });
  }

  void project_backward(std::size_t row, std::size_t count, const float* gradient, float* sums,
                        const Scratch<T>& scratch) const {
    const std::size_t ld = hidden();
    T* const d_projected = d_projected_.data() + row * ld;
    kernels::convert(gradient, ld, d_projected, ld, count, ld);
    scratch.reduced->drop_at(adapters_, row);
    Product<T>{Pass::backward, *projection_, d_projected, count, *scratch.reduced}.each(
        scratch.blocks, [&](std::size_t column, const float* block) {
          kernels::convert(block, panel, sums + column, size(), count, panel);
        });
  }

  /// Adds the part of `gradient` that comes through the first layer's norm.
  void first_norm_backward(std::size_t group, std::size_t row, std::size_t count, float* gradient,
                           float* d_normal) const {
    T* const normal = first_norm_.normal_of(row, hidden());
    const NormGradients& sums = first_norm_.gradients;
    kernels::add_and_norm_backward(gradient, d_normal, normal, first_norm_.inverse_of(row),
                                   embeddings_.first_norm->weights(), {}, 0, normal,
                                   sums.gamma(group, 0), sums.beta(group, 0), count, hidden());
  }

  /// Returns the dropout's index of a row's first element.
  [[nodiscard]] std::uint32_t index_of(std::size_t row) const {
    return static_cast<std::uint32_t>(row * size());
  }

  Embeddings embeddings_;
  std::optional<PackedLinear<T>> projection_;
  std::vector<Embeddings::Ids> ids_;
  kernels::HashDropout dropout_;
  std::uint64_t adapters_ = 0;  // site of the dropout of the projection's adapter
  bool keeps_ = false;
  Buffer<float> sums_;     // [rows, size] with a projection; then their gradient
  Buffer<T> embedded_;     // [rows, size], the projection's input
  Buffer<T> d_projected_;  // [rows, hidden]
  KeptNorm norm_;          // of the embeddings' sums
  KeptNorm first_norm_;    // of what the first layer reads
};

}  // namespace seqtrain::model::cpu
