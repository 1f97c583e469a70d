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

/// Both passes from ids to the first layer's input: embeddings, their norm, dropout and, in
/// families whose embeddings have another size than hidden states, a linear layer.
template <class T>
class EmbeddingStage {
 public:
  EmbeddingStage(Embeddings embeddings, std::optional<PackedLinear<T>> projection)
      : embeddings_{std::move(embeddings)}, projection_{std::move(projection)} {}

  [[nodiscard]] std::optional<PackedLinear<T>>& projection() { return projection_; }
  void round_words() { embeddings_.round_words(); }

  /// Tells whether the residual is the embeddings' sum, and the first layer reads what a norm makes
  /// of it.
  [[nodiscard]] bool keeps_sum() const { return embeddings_.keeps_sum; }

  /// Tells whether anything of this stage learns.
  [[nodiscard]] bool learns() const {
    return embeddings_.learn() || (projection_ && projection_->low_rank().width() > 0);
  }

  /// Begins a pass. `rows` is the number of rows of all runs, or, if nothing is kept, of one run
  /// for each thread.
  void begin(const data::Batch& batch, const Layout& layout, kernels::HashDropout dropout,
             std::uint64_t adapters, std::size_t rows, bool keep) {
    ids_ = embeddings_.ids(batch, layout);
    dropout_ = dropout;
    adapters_ = adapters;
    keeps_ = keep;
    if (projection_) {
      sums_.reserve(rows * size());
      embedded_.reserve(rows * size());
    }
    if (!keep) return;
    normal_.reserve(layout.rows() * size());
    inverse_.reserve(layout.rows());
  }

  /// Computes `x` and `input` [count, hidden] of the rows from `row` on. `place` is the first row
  /// of this stage's own memory to use.
  void forward(std::size_t row, std::size_t count, std::size_t place, float* x, T* input,
               const Scratch<T>& scratch) const {
    float* const sums = projection_ ? sums_.data() + place * size() : x;
    float* const normalized = keeps_sum() ? scratch.wide : sums;
    T* const embedded = projection_ ? embedded_.data() + place * size() : input;
    embeddings_.add_up(ids_.data() + row, count, size(), sums);
    kernels::norm_and_drop<T>(
        sums, embeddings_.norm.weights(), dropout_, index_of(row),
        {normalized, embedded, keeps_ ? normal_.data() + row * size() : nullptr,
         keeps_ ? inverse_.data() + row : nullptr},
        count, size());
    if (!projection_) return;
    const std::size_t hidden = projection_->out();
    scratch.reduced->drop_at(adapters_, row);
    Product<T>{Pass::forward, *projection_, embedded, count, *scratch.reduced}.each(
        scratch.block, [&](std::size_t column, const float* block) {
          const float* const bias = projection_->bias() + column;
          kernels::add_bias(block, panel, bias, x + column, hidden, count, panel);
          kernels::convert(x + column, hidden, input + column, hidden, count, panel);
        });
  }

  /// Sets the sums of a backward pass to zero.
  void begin_backward(std::size_t groups, std::size_t rows) {
    norms_.reserve(groups, 1, size());
    if (!projection_) return;
    const std::size_t count = rows * projection_->out();
    std::fill_n(d_projected_.reserve(count), count, T{});
  }

  /// Computes the backward pass of a group, given the gradient of its `x` [count, hidden], up to
  /// the gradient of the embeddings' sums. With `keeps_sum()`, `d_normal` [count, hidden] is the
  /// gradient of what the norm gives the first layer. Overwrites it.
  void backward(std::size_t group, std::size_t row, std::size_t count, float* gradient,
                float* d_normal, const Scratch<T>& scratch) const {
    if (keeps_sum()) return add_norm_backward(group, row, count, gradient, d_normal);
    float* sums = gradient;
    if (projection_) {
      const std::size_t hidden = projection_->out();
      sums = sums_.data() + row * size();
      T* const d_projected = d_projected_.data() + row * hidden;
      kernels::convert(gradient, hidden, d_projected, hidden, count, hidden);
      scratch.reduced->drop_at(adapters_, row);
      Product<T>{Pass::backward, *projection_, d_projected, count, *scratch.reduced}.each(
          scratch.block, [&](std::size_t column, const float* block) {
            kernels::convert(block, panel, sums + column, size(), count, panel);
          });
    }
    kernels::norm_and_drop_backward(sums, normal_.data() + row * size(), inverse_.data() + row,
                                    embeddings_.norm.weights(), dropout_, index_of(row),
                                    norms_.gamma(group, 0), norms_.beta(group, 0), count, size());
  }

  /// Adds to the gradients of the parameters. `gradient` [rows, size] is read only if there is no
  /// projection. The first `rows_of_groups` rows belong to groups; the others fill the matrix up.
  void add_gradients(const float* gradient, std::size_t rows, std::size_t rows_of_groups,
                     WeightGradients<T>& weights) const {
    norms_.add_to(embeddings_.norm, 0);
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
  [[nodiscard]] std::size_t size() const { return embeddings_.size(); }

  /// Adds the part of `gradient` that comes through the norm.
  void add_norm_backward(std::size_t group, std::size_t row, std::size_t count, float* gradient,
                         float* d_normal) const {
    T* const normal = normal_.data() + row * size();
    kernels::add_and_norm_backward(gradient, d_normal, normal, inverse_.data() + row,
                                   embeddings_.norm.weights(), {}, 0, normal,
                                   norms_.gamma(group, 0), norms_.beta(group, 0), count, size());
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
  Buffer<T> normal_;       // [rows, size], normalized
  Buffer<float> inverse_;  // [rows], inverse standard deviations
  Buffer<T> d_projected_;  // [rows, hidden]
  NormGradients norms_;
};

}  // namespace seqtrain::model::cpu
