#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/where.h>

#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/cpu/distance_bias.hpp>
#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/families/bert/embeddings.hpp>
#include <seqtrain/model/families/encoder_layer.hpp>
#include <seqtrain/model/families/mpnet/config.hpp>
#include <seqtrain/model/families/roberta/config.hpp>
#include <seqtrain/model/families/roberta/roberta.hpp>
#include <seqtrain/model/nn/distances.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/model/nn/sentence_head.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// A bias on the scores of attention that depends on the distance of query and key. There is a
/// number for each head and each of 32 ranges of distances (Raffel et al. 2020). Half of the ranges
/// are for keys after the query. In each half the first 8 ranges hold one distance each, and the
/// others become wider up to a distance of 128.
class RelativePositions {
 public:
  static constexpr std::int64_t ranges = 32;

  RelativePositions(const Scope& scope, std::int64_t heads)
      : weight_{scope.make("weight", {ranges, heads}, Role::distances)} {}

  /// Returns the numbers for the hand-written backend.
  [[nodiscard]] cpu::DistanceNumbers cpu_part() const {
    return {.numbers = weight_, .gradient = weight_.grad(), .ranges = [](std::int64_t length) {
              const at::Tensor of = range_of(at::arange(1 - length, length, at::kLong));
              const auto* const first = of.const_data_ptr<std::int64_t>();
              return std::vector<std::int64_t>(first, first + of.numel());
            }};
  }

  /// Returns the bias [1, heads, width, width].
  [[nodiscard]] BatchDistances operator()(std::int64_t width) const {
    const at::Tensor rows = range_of(at::arange(1 - width, width, at::kLong));
    const at::Tensor numbers = at::embedding(weight_, sent(rows, weight_.device()));
    const at::Tensor of_queries = numbers.t().unsqueeze(1).expand({-1, width, -1});
    return {.numbers = by_pairs(of_queries.contiguous(), 1)};
  }

 private:
  /// Returns the ranges of distances, which are the key's position less the query's.
  static at::Tensor range_of(const at::Tensor& distance) {
    constexpr std::int64_t half = ranges / 2;
    constexpr std::int64_t exact = half / 2;
    constexpr double farthest = 128;
    const at::Tensor size = distance.abs();
    const at::Tensor far = size.to(at::kFloat)
                               .div(exact)
                               .log()
                               .div(std::log(farthest / exact))
                               .mul(half - exact)
                               .to(at::kLong)
                               .add(exact)
                               .clamp_max(half - 1);
    return at::where(size.lt(exact), size, far).add(distance.gt(0).to(at::kLong).mul(half));
  }

  at::Tensor weight_;  ///< [ranges, heads]
};

/// Computes pooled hidden states from ids.
class MpnetEncoder {
 public:
  MpnetEncoder(const Scope& scope, const weights::ModelConfig& config)
      : embeddings_{scope / "embeddings", config, config.hidden_size, Positions::after_padding},
        layers_{scope / "encoder.layer", config, form},
        relative_{scope.late() / "encoder.relative_attention_bias", config.num_attention_heads} {}

  /// Returns [rows, hidden].
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    AttentionMask mask = mask_of(batch);
    mask.bias = relative_(batch.input_ids.size(1)).numbers;
    return pooled(layers_(embed(batch, dropout), mask, dropout), batch,
                  layers_.parts().mean_pooling);
  }

  [[nodiscard]] at::Tensor embed(const tensor::Batch& batch, Dropout& dropout) const {
    return embeddings_(batch, dropout);
  }

  [[nodiscard]] EncoderLayers layers() const {
    EncoderLayers layers = layers_.parts();
    layers.distances = relative_;
    return layers;
  }

  /// Returns the encoder for the hand-written backend.
  template <class T>
  [[nodiscard]] std::optional<cpu::EncoderParts<T>> cpu_parts() const {
    auto parts = cpu::encoder<T>(embeddings_.cpu_part(), layers_.parts());
    if (parts) parts->distances.emplace(relative_.cpu_part());
    return parts;
  }

 private:
  static constexpr LayerForm form{.query = "attention.attn.q",
                                  .key = "attention.attn.k",
                                  .value = "attention.attn.v",
                                  .attention_output = "attention.attn.o",
                                  .attention_norm = "attention.LayerNorm"};

  BertEmbeddings embeddings_;
  LayerStack layers_;
  RelativePositions relative_;
};

/// MPNet (Song et al. 2020): scores of attention have a bias by the distance of two tokens, the
/// same in all layers. There are no token types; positions and the head are RoBERTa's.
struct Mpnet {
  static constexpr std::string_view model_type = "mpnet";
  static constexpr std::string_view prefix = "mpnet";
  static constexpr std::string_view classifier = "MPNetForSequenceClassification";
  using Config = weights::ModelConfig;
  using Encoder = MpnetEncoder;
  using Head = Roberta::Head;

  static constexpr auto read_config = read_mpnet_config;

  static std::int64_t max_length(const Config& config) { return length_after_padding(config); }
};

}  // namespace seqtrain::model
