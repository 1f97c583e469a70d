#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/families/decoder/decoder.hpp>
#include <seqtrain/model/families/encoder_layer.hpp>
#include <seqtrain/model/families/gpt2/config.hpp>
#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::model {

namespace detail {

/// Makes layer `i` of GPT-2, whose `norm1` is attention's and `norm2` the network's.
[[nodiscard]] inline LayerParts gpt2_layer(const Scope& scope, const Gpt2Config& config,
                                           std::size_t i) {
  const std::int64_t hidden = config.hidden_size, inner = config.intermediate_size;
  LayerTraits traits{.activation = activation_kind(config.hidden_act),
                     .heads = static_cast<std::size_t>(config.num_attention_heads),
                     .causal = true};
  if (!config.scales_scores || config.scales_by_layer) {
    const auto size = static_cast<double>(hidden / config.num_attention_heads);
    traits.score_scale = (config.scales_scores ? 1 / std::sqrt(size) : 1) /
                         (config.scales_by_layer ? static_cast<double>(i + 1) : 1);
  }
  const auto place = [&](std::string_view name) { return (scope / name).transposed(); };
  const auto output_place = [&](std::string_view name) {
    return place(name).initialised({output_deviation(config)});
  };
  const LayerNorm norm1{scope / "ln_1", hidden, config.layer_norm_eps};
  const Linear qkv{place("attn.c_attn"), hidden, 3 * hidden};
  const Linear attention_output{output_place("attn.c_proj"), hidden, hidden};
  const LayerNorm norm2{scope / "ln_2", hidden, config.layer_norm_eps};
  const Linear intermediate{place("mlp.c_fc"), hidden, inner};
  const Linear output{output_place("mlp.c_proj"), inner, hidden};
  return {traits, {qkv}, attention_output, norm1, intermediate, output, norm2};
}

}  // namespace detail

/// Computes the hidden states of last tokens, or the means of all, from ids.
class Gpt2Encoder {
 public:
  Gpt2Encoder(const Scope& scope, const Gpt2Config& config)
      : words_{scope / "wte", config.vocab_size, config.hidden_size, config.pad_token_id},
        positions_{scope / "wpe", config.max_position_embeddings, config.hidden_size},
        layers_{layers(scope, config)},
        padding_id_{skipped_id(config)},
        dropout_{config.embedding_dropout} {
    detail::refuse_first_token(config);
  }

  /// Returns [rows, hidden].
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    const at::Tensor hidden = compute(layers_, embed(batch, dropout), batch, dropout);
    return pooled_by_decoder(hidden, batch, layers_, padding_id_);
  }

  [[nodiscard]] at::Tensor embed(const tensor::Batch& batch, Dropout& dropout) const {
    return dropout(words_(batch.input_ids).add(positions_(tensor::positions(batch))), dropout_);
  }

  [[nodiscard]] const EncoderLayers& layers() const { return layers_; }

  /// Returns the encoder for the hand-written backend.
  template <class T>
  [[nodiscard]] std::optional<cpu::EncoderParts<T>> cpu_parts() const {
    auto parts =
        cpu::encoder<T>({.word = cpu::table(words_), .position = cpu::table(positions_)}, layers_);
    if (parts) parts->padding_id = padding_id_;
    return parts;
  }

 private:
  static EncoderLayers layers(const Scope& scope, const Gpt2Config& config) {
    EncoderLayers all{.layers = {},
                      .dropout = {.embeddings = config.embedding_dropout,
                                  .attention = config.attention_probs_dropout_prob,
                                  .attention_output = config.hidden_dropout_prob,
                                  .output = config.hidden_dropout_prob},
                      .mean_pooling = config.mean_pooling,
                      .last_pooling = !config.mean_pooling};
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
      all.layers.push_back(
          detail::gpt2_layer((scope / "h").layer(i), config, static_cast<std::size_t>(i)));
    }
    put_norms_first(
        all, LayerNorm{scope.after_layers() / "ln_f", config.hidden_size, config.layer_norm_eps});
    return all;
  }

  WordEmbedding words_;
  Embedding positions_;
  EncoderLayers layers_;
  std::int64_t padding_id_;
  double dropout_;
};

/// GPT-2 (Radford et al. 2019): a decoder with learned positions, whose head reads the last token.
struct Gpt2 {
  static constexpr std::string_view model_type = "gpt2";
  static constexpr std::string_view prefix = "transformer";
  static constexpr std::string_view classifier = "GPT2ForSequenceClassification";
  using Config = Gpt2Config;
  using Encoder = Gpt2Encoder;
  using Head = DecoderHead;

  static constexpr auto read_config = read_gpt2_config;
  static std::int64_t max_length(const Config& config) { return config.max_position_embeddings; }
};

}  // namespace seqtrain::model
