#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/where.h>
#include <c10/core/Device.h>

#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/cpu/distance_vectors.hpp>
#include <seqtrain/model/families/deberta_v2/config.hpp>
#include <seqtrain/model/nn/layers.hpp>

namespace seqtrain::model {

/// The embeddings of the distances that occur in a batch.
struct BatchDistances {
  at::Tensor embeddings;  ///< [distances, hidden]
  at::Tensor of_pairs;    ///< int64 [width, width]: a row of `embeddings` for each query and key
};

/// Embeddings of the distance of two tokens (He et al. 2021). A distance up to half of the buckets
/// has a row of its own. Larger ones share rows, by their logarithm, up to the largest distance.
class Distances {
 public:
  Distances(const Scope& scope, const DebertaV2Config& config)
      : span_{config.span()},
        weight_{(scope / "rel_embeddings")
                    .make("weight", {2 * span_, config.hidden_size}, Role::weight)},
        norm_{norm(scope, config)},
        half_{config.position_buckets > 0 ? config.position_buckets / 2 : 0},
        farthest_{config.max_relative_positions} {}

  /// Returns the embeddings of the distances in a batch of this width.
  [[nodiscard]] BatchDistances operator()(std::int64_t width) const {
    const std::int64_t largest = width - 1;
    const at::Tensor used = rows(at::arange(-largest, width, at::kLong));
    const auto first = used[0].item<std::int64_t>();
    const std::int64_t count = used[-1].item<std::int64_t>() - first + 1;
    const at::Tensor embeddings = weight_.narrow(0, first, count);
    const at::Tensor place = at::arange(width, weight_.options().dtype(at::kLong));
    const at::Tensor distance = place.unsqueeze(1).sub(place.unsqueeze(0));
    return {.embeddings = norm_ ? (*norm_)(embeddings) : embeddings,
            .of_pairs = sent(used.sub(first))
                            .index_select(0, distance.add(largest).flatten())
                            .view({width, width})};
  }

  /// Returns the embeddings for the hand-written passes.
  template <class T>
  [[nodiscard]] cpu::DistanceParts<T> cpu_parts() const {
    return {.embeddings = weight_,
            .gradient = cpu::gradient_of(weight_),
            .norm = norm_ ? std::optional{cpu::norm(*norm_)} : std::nullopt,
            .rows =
                [*this](std::int64_t length) {
                  const at::Tensor of = rows(at::arange(1 - length, length, at::kLong));
                  const auto* const first = of.const_data_ptr<std::int64_t>();
                  return std::vector<std::int64_t>(first, first + of.numel());
                },
            .maps = {},
            .has_queries = false,
            .has_keys = false};
  }

 private:
  static std::optional<LayerNorm> norm(const Scope& scope, const DebertaV2Config& config) {
    if (!config.normalizes_distances) return {};
    return LayerNorm{scope / "LayerNorm", config.hidden_size, config.layer_norm_eps};
  }

  /// Copies indices to the embeddings' device. The call does not wait for it.
  [[nodiscard]] at::Tensor sent(const at::Tensor& indices) const {
    const c10::Device device = weight_.device();
    const auto options = indices.options().pinned_memory(!device.is_cpu());
    return at::empty(indices.sizes(), options).copy_(indices).to(device, /*non_blocking=*/true);
  }

  /// Returns the index of the embedding of each distance.
  [[nodiscard]] at::Tensor rows(const at::Tensor& distance) const {
    const at::Tensor bucket = half_ > 0 ? buckets(distance) : distance;
    return bucket.add(span_).clamp(0, 2 * span_ - 1);
  }

  /// Computes in fp32, as transformers does: a bucket's bounds depend on rounding.
  [[nodiscard]] at::Tensor buckets(const at::Tensor& distance) const {
    const at::Tensor size = distance.abs();
    const double scale = static_cast<double>(farthest_ - 1) / static_cast<double>(half_);
    const at::Tensor logarithm = size.clamp_min(half_).to(at::kFloat).div(half_).log();
    const at::Tensor bucket = logarithm.div(at::scalar_tensor(scale, at::kFloat).log())
                                  .mul(half_ - 1)
                                  .ceil()
                                  .add(half_)
                                  .to(at::kLong);
    return at::where(size.le(half_), distance, bucket.mul(distance.sign()));
  }

  std::int64_t span_;
  at::Tensor weight_;  ///< [2 span, hidden]
  std::optional<LayerNorm> norm_;
  std::int64_t half_;      ///< half of the number of buckets; 0 if there are none
  std::int64_t farthest_;  ///< from this distance on, all share the last bucket
};

}  // namespace seqtrain::model
