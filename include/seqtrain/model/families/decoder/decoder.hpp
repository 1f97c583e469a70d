#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/families/decoder/config.hpp>
#include <seqtrain/model/families/encoder_layer.hpp>
#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/model/nn/sentence_head.hpp>
#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::model {

/// The norms of a decoder's layer, by their names in the state_dict, and rules in which families
/// differ. The defaults are for Llama. A layer has no norm whose name is empty.
struct DecoderForm {
  /// The norms of queries and keys normalize each head by itself, or all heads together, or there
  /// are none.
  enum class QueryNorm { none, each_head, all_heads };

  std::string_view attention_norm = "input_layernorm";  ///< norms what attention reads
  std::string_view feed_forward_norm =
      "post_attention_layernorm";               ///< norms what the network reads
  std::string_view attention_result_norm = "";  ///< norms what attention adds
  std::string_view result_norm = "";            ///< norms what the network adds
  QueryNorm query_norm = QueryNorm::none;
  double norm_offset = 0;  ///< is added to the weights of norms
  bool fused = false;      ///< one linear layer of queries, keys and values, and one of both gates
  bool scales_embeddings = false;  ///< by the root of hidden_size
  bool causal = true;              ///< a token attends to no later one
};

namespace detail {

[[nodiscard]] inline LayerTraits decoder_traits(const DecoderConfig& config,
                                                const DecoderConfig::Layer& layer, bool causal) {
  LayerTraits traits{.activation = activation_kind(config.hidden_act),
                     .heads = static_cast<std::size_t>(config.num_attention_heads),
                     .gated = true,
                     .rope = layer.rope,
                     .causal = causal,
                     .key_heads = static_cast<std::size_t>(config.key_heads),
                     .score_scale = config.score_scale,
                     .score_cap = config.score_cap};
  if (layer.window > 0) traits.sliding_window = static_cast<std::size_t>(layer.window - 1);
  return traits;
}

/// Throws `InputError` if a sentence encoder takes the first token of a decoder.
inline void refuse_first_token(const weights::ModelConfig& config) {
  if (!config.sentence || config.mean_pooling || config.last_pooling) return;
  throw InputError{"a decoder's first token has seen no other",
                   {.object = "modules.json"},
                   "use a sentence encoder with the mean of all tokens or the last one"};
}

/// Makes the linear layers of queries, keys and values, or the one of all three.
[[nodiscard]] inline std::vector<Linear> decoder_qkv(const Scope& attention,
                                                     const DecoderConfig& config, bool fused) {
  const std::int64_t hidden = config.hidden_size;
  const std::int64_t queries = config.num_attention_heads * config.head_size;
  const std::int64_t keys = config.key_heads * config.head_size;
  const bool bias = config.attention_bias;
  if (fused) return {Linear{attention / "qkv_proj", hidden, queries + 2 * keys, bias}};
  return {Linear{attention / "q_proj", hidden, queries, bias},
          Linear{attention / "k_proj", hidden, keys, bias},
          Linear{attention / "v_proj", hidden, keys, bias}};
}

/// Makes layer `i` of a decoder, whose `norm1` is attention's and `norm2` the network's.
[[nodiscard]] inline LayerParts decoder_layer(const Scope& scope, const DecoderConfig& config,
                                              std::size_t i, const DecoderForm& form) {
  const std::int64_t hidden = config.hidden_size, inner = config.intermediate_size;
  const std::int64_t queries = config.num_attention_heads * config.head_size;
  const Scope attention = scope / "self_attn", mlp = scope / "mlp";
  const auto norm = [&](const Scope& place, std::int64_t numbers) {
    return LayerNorm::rms(place, numbers, config.layer_norm_eps, form.norm_offset);
  };
  const auto named = [&](std::string_view name) {
    return name.empty() ? std::nullopt : std::optional{norm(scope / name, hidden)};
  };
  // Its gradient is complete with those of the layer before, so it comes first.
  const auto before = named(form.attention_norm);
  const auto qkv = decoder_qkv(attention, config, form.fused);
  const Linear o{attention / "o_proj", queries, hidden, config.attention_output_bias};
  std::optional<LayerNorm> query_norm, key_norm;
  if (form.query_norm != DecoderForm::QueryNorm::none) {
    const bool all = form.query_norm == DecoderForm::QueryNorm::all_heads;
    query_norm = norm(attention / "q_norm", all ? queries : config.head_size);
    key_norm = norm(attention / "k_norm", (all ? config.key_heads : 1) * config.head_size);
  }
  const Linear active{mlp / (form.fused ? "gate_up_proj" : "gate_proj"), hidden,
                      form.fused ? 2 * inner : inner, config.mlp_bias};
  std::optional<Linear> gate;
  if (!form.fused) gate.emplace(mlp / "up_proj", hidden, inner, config.mlp_bias);
  const Linear down{mlp / "down_proj", inner, hidden, config.mlp_bias};
  const auto attention_result = named(form.attention_result_norm);
  const auto middle = named(form.feed_forward_norm), result = named(form.result_norm);
  return {.traits = decoder_traits(config, config.layers[i], form.causal),
          .qkv = qkv,
          .attention_output = o,
          .norm1 = before.value_or(LayerNorm::none()),
          .intermediate = active,
          .output = down,
          .norm2 = middle.value_or(LayerNorm::none()),
          .gate = gate,
          .query_norm = query_norm,
          .key_norm = key_norm,
          .attention_result_norm = attention_result,
          .result_norm = result};
}

[[nodiscard]] inline EncoderLayers decoder_layers(const Scope& scope, const DecoderConfig& config,
                                                  const DecoderForm& form) {
  EncoderLayers all{.layers = {},
                    .dropout = {.attention = config.attention_probs_dropout_prob,
                                .attention_output = config.residual_dropout,
                                .output = config.residual_dropout},
                    .mean_pooling = config.mean_pooling,
                    .last_pooling = form.causal && !config.mean_pooling};
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const Scope layer = (scope / "layers").layer(static_cast<std::int64_t>(i));
    all.layers.push_back(decoder_layer(layer, config, i, form));
  }
  put_norms_first(all, LayerNorm::rms(scope.after_layers() / "norm", config.hidden_size,
                                      config.layer_norm_eps, form.norm_offset));
  return all;
}

}  // namespace detail

/// Returns the id of tokens that do not count as a text's last one, or -1 if all count.
[[nodiscard]] inline std::int64_t skipped_id(const weights::ModelConfig& config) {
  return config.last_pooling ? weights::no_pad_token : config.pad_token_id;
}

/// Returns what a head takes of the states of a decoder's layers: those of all tokens, their mean,
/// the last token's or the first one's. `padding_id` does not count as a text's last token.
[[nodiscard]] inline at::Tensor pooled_by_decoder(const at::Tensor& hidden,
                                                  const tensor::Batch& batch,
                                                  const EncoderLayers& layers,
                                                  std::int64_t padding_id) {
  return layers.last_pooling && !batch.keeps_tokens ? last_tokens(hidden, batch, padding_id)
                                                    : pooled(hidden, batch, layers.mean_pooling);
}

/// Computes the hidden states of last tokens, or the means of all, from ids: each token attends to
/// those before it. `Family::form` says how its layers differ from Llama's. If tokens attend to
/// later ones too, the first token's states take the place of the last one's.
template <class Family>
class DecoderEncoder {
 public:
  DecoderEncoder(const Scope& scope, const DecoderConfig& config)
      : words_{scope / "embed_tokens", config.vocab_size, config.hidden_size, config.pad_token_id},
        layers_{detail::decoder_layers(scope, config, Family::form)},
        padding_id_{skipped_id(config)},
        scale_{Family::form.scales_embeddings ? std::sqrt(static_cast<double>(config.hidden_size))
                                              : 1} {
    if (Family::form.causal) detail::refuse_first_token(config);
  }

  /// Returns [rows, hidden].
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    const at::Tensor hidden = compute(layers_, embed(batch, dropout), batch, dropout);
    return pooled_by_decoder(hidden, batch, layers_, padding_id_);
  }

  [[nodiscard]] at::Tensor embed(const tensor::Batch& batch, Dropout&) const {
    const at::Tensor words = words_(batch.input_ids);
    return scale_ == 1 ? words : words.mul(scale_);
  }

  [[nodiscard]] const EncoderLayers& layers() const { return layers_; }

  /// Returns the encoder for the hand-written backend.
  template <class T>
  [[nodiscard]] std::optional<cpu::EncoderParts<T>> cpu_parts() const {
    auto parts =
        cpu::encoder<T>({.word = cpu::table(words_), .scale = static_cast<float>(scale_)}, layers_);
    if (parts) parts->padding_id = padding_id_;
    return parts;
  }

 private:
  WordEmbedding words_;
  EncoderLayers layers_;
  std::int64_t padding_id_;
  double scale_;
};

/// One linear layer without bias.
class DecoderHead {
 public:
  DecoderHead(const Scope& root, const weights::ModelConfig& config)
      : score_{root / "score", config.hidden_size, config.num_labels(), /*has_bias=*/false} {}

  /// Returns logits [rows, labels] for pooled hidden states [rows, hidden].
  at::Tensor operator()(const at::Tensor& pooled, Dropout&) const { return score_(pooled); }

 private:
  Linear score_;
};

/// The members of a family with Llama's layers. A family defines anew those in which it differs.
template <class Family>
struct DecoderFamily {
  static constexpr std::string_view prefix = "model";
  static constexpr DecoderForm form{};
  using Config = DecoderConfig;
  using Encoder = DecoderEncoder<Family>;
  using Head = DecoderHead;

  static std::int64_t max_length(const Config& config) { return config.max_position_embeddings; }
};

}  // namespace seqtrain::model
