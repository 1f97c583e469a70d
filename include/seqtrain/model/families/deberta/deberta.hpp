#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/families/deberta/config.hpp>
#include <seqtrain/model/families/deberta_v2/deberta_v2.hpp>
#include <seqtrain/model/families/deberta_v2/distances.hpp>
#include <seqtrain/model/families/deberta_v2/layer.hpp>
#include <seqtrain/model/families/encoder_layer.hpp>
#include <seqtrain/model/nn/classification_head.hpp>
#include <seqtrain/model/nn/distances.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/sentence_head.hpp>
#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::model {

/// A layer of the first DeBERTa. One linear layer has each head's queries, keys and values in
/// succession, and distances have linear layers of their own.
class DebertaLayer {
 public:
  DebertaLayer(const Scope& scope, const DebertaV2Config& config)
      : DebertaLayer{scope, scope / "attention.self", config} {}

  /// Returns hidden states [rows, width, hidden] for those of the layer before. `distances` is
  /// empty if the model has no relative attention.
  at::Tensor operator()(const at::Tensor& x, AttentionMask mask,
                        const std::optional<BatchDistances>& distances, Dropout& dropout) const {
    const auto qkv = split_heads(qkv_(x), heads_).chunk(3, -1);
    const at::Tensor q = qkv[0].add(query_bias_.view({heads_, 1, -1}));
    const at::Tensor v = qkv[2].add(value_bias_.view({heads_, 1, -1}));
    if (distances && score_parts_ > 1) {
      mask.bias = distance_bias(
          q, qkv[1], {dropout(distances->numbers, rates_.output), distances->rows},
          {.to_key = to_key_ ? &*to_key_ : nullptr, .to_query = to_query_ ? &*to_query_ : nullptr});
    }
    const at::Tensor scaled = q.div(std::sqrt(static_cast<double>(score_parts_)));
    const at::Tensor context = attend(scaled, qkv[1], v, mask, rates_.attention, dropout);
    return after_attention(parts_, rates_, context, x, dropout).normal;
  }

 private:
  DebertaLayer(const Scope& scope, const Scope& attention, const DebertaV2Config& config)
      : query_bias_{attention.make("q_bias", {config.hidden_size}, Role::bias)},
        value_bias_{attention.make("v_bias", {config.hidden_size}, Role::bias)},
        qkv_{attention / "in_proj", config.hidden_size, 3 * config.hidden_size, false},
        to_key_{map(attention / "pos_proj", config, config.content_to_position, false)},
        to_query_{map(attention / "pos_q_proj", config, config.position_to_content, true)},
        rates_{LayerForm{}.dropout(config)},
        parts_{bert_layer(scope, config, {}, {qkv_})},
        heads_{config.num_attention_heads},
        score_parts_{1 + (config.content_to_position ? 1 : 0) +
                     (config.position_to_content ? 1 : 0)} {}

  static std::optional<Linear> map(const Scope& scope, const DebertaV2Config& config, bool used,
                                   bool has_bias) {
    if (!used || !config.relative_attention) return {};
    return Linear{scope, config.hidden_size, config.hidden_size, has_bias};
  }

  at::Tensor query_bias_, value_bias_;
  Linear qkv_;
  std::optional<Linear> to_key_, to_query_;
  DropoutRates rates_;
  LayerParts parts_;
  std::int64_t heads_;
  int score_parts_;  ///< number of products that a score is the sum of
};

/// Computes the hidden states of first tokens, or the means of all, from ids.
class DebertaEncoder {
 public:
  DebertaEncoder(const Scope& scope, const DebertaV2Config& config)
      : embeddings_{scope / "embeddings", config}, mean_pooling_{config.mean_pooling} {
    const Scope encoder = scope / "encoder";
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
      layers_.emplace_back((encoder / "layer").layer(i), config);
    }
    if (config.relative_attention) distances_.emplace(encoder.late(), config);
  }

  /// Returns [rows, hidden].
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    const AttentionMask mask = mask_of(batch);
    std::optional<BatchDistances> distances;
    if (distances_) distances = (*distances_)(batch.input_ids.size(1));
    at::Tensor hidden = embeddings_(batch, dropout);
    for (const DebertaLayer& layer : layers_) hidden = layer(hidden, mask, distances, dropout);
    return pooled(hidden, batch, mean_pooling_);
  }

 private:
  DebertaV2Embeddings embeddings_;
  std::vector<DebertaLayer> layers_;
  std::optional<Distances> distances_;
  bool mean_pooling_;
};

/// DeBERTa (He et al. 2021): attention depends on distances. Published models of it know natural
/// language inference.
struct Deberta {
  static constexpr std::string_view model_type = "deberta";
  static constexpr std::string_view prefix = "deberta";
  static constexpr std::string_view classifier = "DebertaForSequenceClassification";
  using Config = DebertaV2Config;
  using Encoder = DebertaEncoder;
  using Head = ClassificationHead<Deberta>;

  static constexpr auto read_config = read_deberta_config;

  static HeadForm head_form(const Config& config) { return DebertaV2::head_form(config); }

  static std::int64_t max_length(const Config& config) { return config.max_position_embeddings; }
};

}  // namespace seqtrain::model
