#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>

#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/cpu/distance_vectors.hpp>
#include <seqtrain/model/families/deberta_v2/config.hpp>
#include <seqtrain/model/nn/distances.hpp>
#include <seqtrain/model/nn/layers.hpp>

namespace seqtrain::model {

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

  /// Returns the embeddings of the distances in a batch of this width, [distances, hidden].
  [[nodiscard]] BatchDistances operator()(std::int64_t width) const {
    const at::Tensor used = rows(at::arange(1 - width, width, at::kLong));
    const auto first = used[0].item<std::int64_t>();
    const std::int64_t count = used[-1].item<std::int64_t>() - first + 1;
    const at::Tensor embeddings = weight_.narrow(0, first, count);
    const at::Tensor from_first = used.sub(first);
    return {.numbers = norm_ ? (*norm_)(embeddings) : embeddings,
            .rows = sent(at::stack({from_first.flip(0), from_first}), weight_.device())};
  }

  /// Returns the embeddings for the hand-written backend.
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
