#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>

#include <seqtrain/model/families/bart/config.hpp>
#include <seqtrain/model/families/encoder_layer.hpp>
#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>

namespace seqtrain::model {

/// The sizes in which the layers of BART's encoder and of its decoder differ.
struct BartSizes {
  std::int64_t layers, heads, inner;
  std::int64_t below = 0;  ///< layers of the encoder, if these are the decoder's
};

/// Attention with several heads, and the norm of its sum with the residual.
class BartAttention {
 public:
  BartAttention(const Scope& layer, std::string_view name, const BartConfig& config,
                std::int64_t heads)
      : BartAttention{layer / name, layer / (std::string{name} + "_layer_norm"), config, heads} {}

  /// Returns [rows, width, hidden] for states x, which attend to `keys`.
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& keys, const AttentionMask& mask,
                        Dropout& dropout) const {
    const auto split = [&](const at::Tensor& states) { return split_heads(states, heads_); };
    const at::Tensor context = attend(split(query_(x)), split(key_(keys)), split(value_(keys)),
                                      mask, attention_rate_, dropout);
    const at::Tensor result = output_(context.transpose(1, 2).flatten(2));
    return norm_(x.add(dropout(result, output_rate_)));
  }

 private:
  BartAttention(const Scope& maps, const Scope& norm, const BartConfig& config, std::int64_t heads)
      : key_{maps / "k_proj", config.hidden_size, config.hidden_size},
        value_{maps / "v_proj", config.hidden_size, config.hidden_size},
        query_{maps / "q_proj", config.hidden_size, config.hidden_size},
        output_{maps / "out_proj", config.hidden_size, config.hidden_size},
        norm_{norm, config.hidden_size, config.layer_norm_eps},
        heads_{heads},
        attention_rate_{config.attention_probs_dropout_prob},
        output_rate_{config.hidden_dropout_prob} {}

  Linear key_, value_, query_, output_;
  LayerNorm norm_;
  std::int64_t heads_;
  double attention_rate_, output_rate_;
};

/// A layer of the encoder, or one of the decoder, which attends to the encoder's states too.
class BartLayer {
 public:
  BartLayer(const Scope& scope, const BartConfig& config, const BartSizes& sizes)
      : attention_{scope, "self_attn", config, sizes.heads},
        cross_{cross(scope, config, sizes)},
        inner_{scope / "fc1", config.hidden_size, sizes.inner},
        outer_{scope / "fc2", sizes.inner, config.hidden_size},
        norm_{scope / "final_layer_norm", config.hidden_size, config.layer_norm_eps},
        activation_{activation_kind(config.hidden_act)},
        inner_rate_{config.activation_dropout},
        outer_rate_{config.hidden_dropout_prob} {}

  /// Returns [rows, width, hidden]. `encoded` is not read by a layer of the encoder.
  at::Tensor operator()(const at::Tensor& x, const AttentionMask& mask, const at::Tensor& encoded,
                        const AttentionMask& encoded_mask, Dropout& dropout) const {
    at::Tensor middle = attention_(x, x, mask, dropout);
    if (cross_) middle = (*cross_)(middle, encoded, encoded_mask, dropout);
    const at::Tensor active = dropout(activate(inner_(middle), activation_), inner_rate_);
    return norm_(middle.add(dropout(outer_(active), outer_rate_)));
  }

 private:
  static std::optional<BartAttention> cross(const Scope& scope, const BartConfig& config,
                                            const BartSizes& sizes) {
    if (sizes.below == 0) return {};
    return BartAttention{scope, "encoder_attn", config, sizes.heads};
  }

  BartAttention attention_;
  std::optional<BartAttention> cross_;
  Linear inner_, outer_;
  LayerNorm norm_;
  ActivationKind activation_;
  double inner_rate_, outer_rate_;
};

/// BART's encoder or decoder: the embeddings of positions, and layers.
class BartStack {
 public:
  BartStack(const Scope& scope, const BartConfig& config, const BartSizes& sizes)
      : positions_{scope / "embed_positions", config.max_position_embeddings + first_position,
                   config.hidden_size},
        layers_{layers(scope / "layers", config, sizes)},
        norm_{scope / "layernorm_embedding", config.hidden_size, config.layer_norm_eps},
        rate_{config.hidden_dropout_prob} {}

  /// Returns the states of all tokens, [rows, width, hidden] as the vectors of their words.
  /// `encoded` is not read by the encoder.
  at::Tensor operator()(const at::Tensor& words, const AttentionMask& mask,
                        const at::Tensor& encoded, const AttentionMask& encoded_mask,
                        Dropout& dropout) const {
    const at::Tensor rows = at::arange(first_position, first_position + words.size(1),
                                       words.options().dtype(at::kInt).requires_grad(false));
    at::Tensor x = dropout(norm_(words.add(positions_(rows))), rate_);
    for (const BartLayer& layer : layers_) x = layer(x, mask, encoded, encoded_mask, dropout);
    return x;
  }

 private:
  static constexpr std::int64_t first_position = 2;  // the rows before it are not used

  static std::vector<BartLayer> layers(const Scope& scope, const BartConfig& config,
                                       const BartSizes& sizes) {
    std::vector<BartLayer> result;
    for (std::int64_t i = 0; i < sizes.layers; ++i) {
      result.emplace_back(scope.layer(i, sizes.below), config, sizes);
    }
    return result;
  }

  Embedding positions_;
  std::vector<BartLayer> layers_;
  LayerNorm norm_;
  double rate_;
};

}  // namespace seqtrain::model
