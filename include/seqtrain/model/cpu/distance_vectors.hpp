#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/kernels/activation.hpp>
#include <seqtrain/kernels/distance_scores.hpp>
#include <seqtrain/kernels/dropout.hpp>
#include <seqtrain/kernels/lanes.hpp>
#include <seqtrain/kernels/layer_norm.hpp>
#include <seqtrain/model/cpu/attention_call.hpp>
#include <seqtrain/model/cpu/buffer.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/cpu/layout.hpp>
#include <seqtrain/model/cpu/linear.hpp>
#include <seqtrain/model/cpu/norm_tensors.hpp>
#include <seqtrain/model/cpu/weight_gradients.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::model::cpu {

/// The embeddings of distances, and the linear layers from them to what each layer adds to its
/// scores (He et al. 2021).
template <class T>
struct DistanceParts {
  at::Tensor embeddings;  ///< [rows, hidden]
  at::Tensor gradient;    ///< undefined where frozen
  std::optional<NormTensors> norm;
  /// Returns the rows of the distances from -(length - 1) to length - 1. A distance is the query's
  /// position minus the key's. The rows do not decrease.
  std::function<std::vector<std::int64_t>(std::int64_t length)> rows;
  /// A linear layer for each layer, to [query vectors, key vectors] or to one of them.
  std::vector<PackedLinear<T>> maps;
  bool has_queries;  ///< there are query vectors, which are multiplied by keys
  bool has_keys;     ///< there are key vectors, which are multiplied by queries
};

/// Both passes from the embeddings of distances to the vectors of each layer. Gradients of the
/// vectors are added up by shares: a share is written by one thread at a time, and the shares are
/// added in their order.
template <class T>
class DistanceVectors {
 public:
  DistanceVectors(DistanceParts<T> parts, std::size_t heads, float scale)
      : parts_{std::move(parts)}, heads_{heads}, scale_{scale} {}

  [[nodiscard]] std::vector<PackedLinear<T>>& maps() { return parts_.maps; }

  /// Computes the vectors of all layers for sequences of at most that length. With `keep`,
  /// `backward` may follow.
  void forward(std::size_t longest, std::vector<kernels::HashDropout> dropout,
               std::vector<std::uint64_t> adapters, bool keep) {
    longest_ = longest;
    dropout_ = std::move(dropout);
    adapters_ = std::move(adapters);
    rows_ = parts_.rows(static_cast<std::int64_t>(longest));
    first_ = rows_.front();
    count_ = static_cast<std::size_t>(rows_.back() - first_ + 1);
    embed(keep);
    layers_.resize(parts_.maps.size());
    mapped_.resize(tensor::workers());
    reduced_.resize(tensor::workers());
    tensor::for_each_task(layers_.size(), [&](std::size_t layer, std::size_t worker) {
      map(layer, keep, mapped_[worker], reduced_[worker]);
    });
  }

  /// Returns the vectors of distances for head 0 of a layer.
  [[nodiscard]] kernels::DistanceVectors vectors(std::size_t layer) const {
    const Vectors& of = layers_[layer];
    kernels::DistanceVectors result{.ld = ld(), .zero = longest_ - 1};
    if (parts_.has_keys) {
      result.keys = of.keys.data();
      result.keys_transposed = of.keys_transposed.data();
    }
    if (parts_.has_queries) {
      result.queries = of.queries.data();
      result.queries_transposed = of.queries_transposed.data();
    }
    return result;
  }

  /// Points `vectors` to the gradients of a share.
  void add_gradients_to(kernels::DistanceVectors& vectors, std::size_t share) const {
    float* const gradients = gradients_.data() + share * 2 * floats();
    if (parts_.has_keys) vectors.d_keys = gradients;
    if (parts_.has_queries) vectors.d_queries = gradients + floats();
  }

  [[nodiscard]] VectorsOfAHead of_a_head() const {
    return {.rows = distances() * wide(), .transposed = size() * ld()};
  }

  /// Sets the gradients to zero, of which threads have so many shares.
  void begin_backward(std::size_t shares) {
    shares_ = shares;
    std::fill_n(gradients_.reserve(shares * 2 * floats()), shares * 2 * floats(), 0.0F);
    std::fill_n(d_embedded_.reserve(count_ * hidden()), count_ * hidden(), 0.0F);
  }

  /// Adds to the gradients of a layer's linear layer, and clears the shares for the next layer.
  void backward(std::size_t layer, WeightGradients<T>& weights) {
    const PackedLinear<T>& map = parts_.maps[layer];
    add_up_shares(map.out());
    T* const d_output = d_output_.reserve(padded() * map.out());
    kernels::convert(d_mapped_.data(), map.out(), d_output, map.out(), padded(), map.out());
    const WeightProduct<T> product{&map, layers_[layer].input.data(), d_output, padded(),
                                   adapters_[layer]};
    weights.add({&product, 1});
    if (!parts_.gradient.defined()) return;
    float* const d_input = d_input_.reserve(padded() * hidden());
    constexpr std::size_t unit = Layout::matrix_unit;
    tensor::for_each_task(padded() / unit, [&](std::size_t task, std::size_t worker) {
      const T* const gradient = d_output + task * unit * map.out();
      float* const to = d_input + task * unit * hidden();
      reduced_[worker].drop_at(adapters_[layer], task * unit);
      Product<T>{Pass::backward, map, gradient, unit, reduced_[worker]}({}, to);
    });
    kernels::drop(d_input, 0, dropout_[layer], 0, 0, d_input, 0, 1, count_ * hidden());
    kernels::add(d_input, hidden(), d_embedded_.data(), hidden(), count_, hidden());
  }

  /// Adds to the gradients of the embeddings and of their norm, if they learn.
  void end_backward() {
    if (!parts_.gradient.defined()) return;
    if (parts_.norm) {
      NormGradients sums;
      sums.reserve(1, 1, hidden());
      kernels::norm_and_drop_backward(d_embedded_.data(), normal_.data(), inverse_.data(),
                                      parts_.norm->weights(), {}, 0, sums.gamma(0, 0),
                                      sums.beta(0, 0), count_, hidden());
      sums.add_to(*parts_.norm, 0);
    }
    float* const to = parts_.gradient.template mutable_data_ptr<float>() +
                      static_cast<std::size_t>(first_) * hidden();
    for (std::size_t i = 0; i < count_ * hidden(); ++i) to[i] += d_embedded_.data()[i];
  }

 private:
  /// The vectors of distances in one layer, and the input of the linear layer that gives them.
  struct Vectors {
    Buffer<T> input;                // [padded, hidden]
    Buffer<float> keys, queries;    // [heads, distances, wide]
    Buffer<float> keys_transposed;  // [heads, size, ld]
    Buffer<float> queries_transposed;
  };

  [[nodiscard]] std::size_t hidden() const { return parts_.maps.front().in(); }
  [[nodiscard]] std::size_t size() const { return hidden() / heads_; }
  [[nodiscard]] std::size_t wide() const { return kernels::round_to_lanes(size()); }
  [[nodiscard]] std::size_t distances() const { return rows_.size(); }
  [[nodiscard]] std::size_t floats() const { return heads_ * distances() * wide(); }
  [[nodiscard]] std::size_t ld() const {
    return kernels::round_to_lanes(distances()) + kernels::lanes;
  }
  [[nodiscard]] std::size_t padded() const { return round_up(count_, Layout::matrix_unit); }
  [[nodiscard]] std::size_t first_key_column() const { return parts_.has_queries ? hidden() : 0; }

  /// Returns the row of the distance with this index, or of the opposite distance.
  [[nodiscard]] std::size_t row(std::size_t index, bool opposite) const {
    return static_cast<std::size_t>(rows_[opposite ? distances() - 1 - index : index] - first_);
  }

  /// Computes the normalized embeddings of the distances that occur.
  void embed(bool keep) {
    const std::size_t count = count_ * hidden();
    float* const embedded = embedded_.reserve(count);
    std::copy_n(parts_.embeddings.template const_data_ptr<float>() +
                    static_cast<std::size_t>(first_) * hidden(),
                count, embedded);
    if (!parts_.norm) return;
    float* const normal = keep ? normal_.reserve(count) : nullptr;
    float* const inverse = keep ? inverse_.reserve(count_) : nullptr;
    kernels::norm_and_drop<float>(embedded, parts_.norm->weights(), {}, 0,
                                  {embedded, embedded, normal, inverse}, count_, hidden());
  }

  /// Computes the vectors of a layer.
  void map(std::size_t layer, bool keep, Buffer<float>& memory, ReducedRows<T>& reduced) {
    const PackedLinear<T>& map = parts_.maps[layer];
    Vectors& to = layers_[layer];
    T* const input = to.input.reserve(padded() * hidden());
    kernels::drop(embedded_.data(), 0, dropout_[layer], 0, 0, input, 0, 1, count_ * hidden());
    std::fill_n(input + count_ * hidden(), (padded() - count_) * hidden(), T{});
    float* const mapped = memory.reserve(padded() * map.out());
    reduced.drop_at(adapters_[layer], 0);
    Product<T>{Pass::forward, map, input, padded(), reduced}({}, mapped);
    kernels::add_bias(mapped, map.out(), map.bias(), mapped, map.out(), padded(), map.out());
    if (parts_.has_queries) {
      lay_out(mapped, map.out(), false, scale_, keep, to.queries, to.queries_transposed);
    }
    if (parts_.has_keys) {
      lay_out(mapped + first_key_column(), map.out(), true, 1, keep, to.keys, to.keys_transposed);
    }
  }

  /// Writes each head's vectors by distance, row by row if the backward pass reads them, and
  /// transposed.
  void lay_out(const float* mapped, std::size_t ld_mapped, bool opposite, float scale, bool keep,
               Buffer<float>& rows, Buffer<float>& transposed) const {
    float* const by_row = keep ? rows.reserve(floats()) : nullptr;
    float* const by_column = transposed.reserve(heads_ * size() * ld());
    std::fill_n(by_column, heads_ * size() * ld(), 0.0F);
    for (std::size_t head = 0; head < heads_; ++head) {
      for (std::size_t i = 0; i < distances(); ++i) {
        const float* const from = mapped + row(i, opposite) * ld_mapped + head * size();
        float* const to_row = keep ? by_row + (head * distances() + i) * wide() : nullptr;
        for (std::size_t d = 0; d < size(); ++d) {
          by_column[(head * size() + d) * ld() + i] = from[d] * scale;
          if (keep) to_row[d] = from[d] * scale;
        }
        if (keep) std::fill(to_row + size(), to_row + wide(), 0.0F);
      }
    }
  }

  /// Computes the gradient of the linear layer's output from the shares, and clears them. Each head
  /// has its own columns.
  void add_up_shares(std::size_t out) {
    float* const d_mapped = d_mapped_.reserve(padded() * out);
    std::fill_n(d_mapped, padded() * out, 0.0F);
    tensor::for_each_task(heads_, [&](std::size_t head, std::size_t) {
      for (std::size_t share = 0; share < shares_; ++share) {
        float* const gradients =
            gradients_.data() + share * 2 * floats() + head * distances() * wide();
        if (parts_.has_keys) {
          add_share(gradients, true, 1, d_mapped + first_key_column() + head * size(), out);
        }
        if (parts_.has_queries) {
          add_share(gradients + floats(), false, scale_, d_mapped + head * size(), out);
        }
      }
    });
  }

  void add_share(float* gradients, bool opposite, float scale, float* d_mapped,
                 std::size_t out) const {
    for (std::size_t i = 0; i < distances(); ++i) {
      float* const to = d_mapped + row(i, opposite) * out;
      float* const from = gradients + i * wide();
      for (std::size_t d = 0; d < size(); ++d) to[d] += from[d] * scale;
      std::fill_n(from, wide(), 0.0F);
    }
  }

  DistanceParts<T> parts_;
  std::size_t heads_;
  float scale_;  // factor of the query vectors

  std::size_t longest_ = 0;
  std::vector<kernels::HashDropout> dropout_;  // one for each layer
  std::vector<std::uint64_t> adapters_;        // sites of the dropout of each layer's adapters
  std::vector<std::int64_t> rows_;             // row of the embeddings for each distance
  std::int64_t first_ = 0;                     // the first row that occurs
  std::size_t count_ = 0;                      // number of rows that occur
  Buffer<float> embedded_;                     // [count, hidden], normalized
  Buffer<float> normal_, inverse_;
  std::vector<Vectors> layers_;
  std::vector<Buffer<float>> mapped_;    // [padded, out] for each worker
  std::vector<ReducedRows<T>> reduced_;  // for each worker

  std::size_t shares_ = 0;
  Buffer<float> gradients_;   // [shares, keys' and queries', heads, distances, wide]
  Buffer<float> d_mapped_;    // [padded, out]
  Buffer<T> d_output_;        // [padded, out]
  Buffer<float> d_input_;     // [padded, hidden]
  Buffer<float> d_embedded_;  // [count, hidden]
};

}  // namespace seqtrain::model::cpu
