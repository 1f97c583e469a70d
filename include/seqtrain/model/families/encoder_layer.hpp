#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>

#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/rope.hpp>
#include <seqtrain/model/nn/rotary.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// Changes the scores of attention before softmax.
struct AttentionMask {
  /// Tells which keys a query may attend to: bool [rows, 1, 1 or width, width], or nothing for all
  /// keys.
  std::optional<at::Tensor> keys = {};
  /// Numbers that are added to scores: [1 or rows, heads, width, width].
  std::optional<at::Tensor> bias = {};
  /// Queries attend to no later key. There are no `keys` then: padding comes after all tokens.
  bool causal = false;
};

/// Returns a mask that leaves out a batch's padding.
[[nodiscard]] inline AttentionMask mask_of(const tensor::Batch& batch) {
  if (!batch.padded) return {};
  return {.keys = tensor::attention_mask(batch)};
}

/// Returns a layer's mask: it leaves out padding, keys outside the layer's sliding
/// window, and later keys if the layer is causal. Queries that are padding see padding too, because
/// a query without any key gives NaN.
[[nodiscard]] inline AttentionMask mask_of(const tensor::Batch& batch, const LayerTraits& traits) {
  const std::int64_t width = batch.input_ids.size(1);
  const bool all_near = static_cast<std::size_t>(width - 1) <= traits.sliding_window;
  if (all_near) return traits.causal ? AttentionMask{.causal = true} : mask_of(batch);
  const auto sliding_window = static_cast<std::int64_t>(traits.sliding_window);
  const at::Tensor place = at::arange(width, batch.input_ids.options());
  const at::Tensor later = place.unsqueeze(0).sub(place.unsqueeze(1));  // of a key than a query
  const at::Tensor seen = (traits.causal ? later.le(0).logical_and(later.ge(-sliding_window))
                                         : later.abs().le(sliding_window))
                              .unsqueeze(0)
                              .unsqueeze(0);
  if (!batch.padded || traits.causal) return {.keys = seen};
  const at::Tensor is_token = tensor::attention_mask(batch);
  const at::Tensor is_padding = is_token.transpose(-1, -2).logical_not();
  return {.keys = seen.logical_and(is_token.logical_or(is_padding))};
}

/// Returns x [rows, width, heads · size] as [rows, heads, width, size].
[[nodiscard]] inline at::Tensor split_heads(const at::Tensor& x, std::int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

/// The factor and the bound of scores.
struct ScoreForm {
  std::optional<double> scale = {};  ///< nothing for 1 / √size
  double cap = 0;                    ///< 0 for none
};

/// Computes softmax(q kᵀ / √size + bias) v with dropout on the probabilities, which are fp32 even
/// under autocast. All tensors are [rows, heads, width, size].
inline at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                         const AttentionMask& mask, double probability, Dropout& dropout,
                         const ScoreForm& form = {}) {
  constexpr auto lowest = -std::numeric_limits<float>::infinity();
  const auto masked = [&](const at::Tensor& scores) {
    return mask.keys ? scores.masked_fill(mask.keys->logical_not(), lowest) : scores;
  };
  if (!dropout.active(probability) && form.cap == 0) {
    const std::optional<at::Tensor> given = mask.bias ? masked(*mask.bias) : mask.keys;
    return at::scaled_dot_product_attention(q, k, v, given, 0, mask.causal, form.scale);
  }
  const double scale = form.scale.value_or(1 / std::sqrt(static_cast<double>(q.size(-1))));
  at::Tensor scores = at::matmul(q.mul(scale), k.transpose(-2, -1));
  if (form.cap != 0) scores = scores.div(form.cap).tanh().mul(form.cap);
  if (mask.bias) scores = scores.add(*mask.bias);
  scores = masked(scores);
  if (mask.causal) {
    const at::Tensor later = at::ones_like(scores[0][0], at::kBool).triu(1);
    scores = scores.masked_fill(later, lowest);
  }
  return at::matmul(dropout(at::softmax(scores, -1, at::kFloat), probability), v);
}

/// The names of a layer's parts in the state_dict, and rules in which families differ. The defaults
/// are for BERT.
struct LayerForm {
  std::string_view query = "attention.self.query";
  std::string_view key = "attention.self.key";
  std::string_view value = "attention.self.value";
  std::string_view attention_output = "attention.output.dense";
  std::string_view attention_norm = "attention.output.LayerNorm";
  std::string_view intermediate = "intermediate.dense";
  std::string_view output = "output.dense";
  std::string_view output_norm = "output.LayerNorm";
  bool drops_attention_output = true;  ///< dropout also applies to the output of attention
  bool drops_output = true;  ///< dropout also applies to the feed-forward network's output
  /// Norms come before the parts that they are named after, and one more after all layers.
  bool pre_norm = false;

  /// Returns the probabilities of dropout in an encoder of such layers.
  [[nodiscard]] DropoutRates dropout(const weights::ModelConfig& config) const {
    const double hidden = config.hidden_dropout_prob;
    return {.embeddings = hidden,
            .attention = config.attention_probs_dropout_prob,
            .attention_output = drops_attention_output ? hidden : 0,
            .output = drops_output ? hidden : 0};
  }
};

/// Returns the deviation of the initial weights of linear layers that add to the residual stream,
/// in families where it falls with the number of layers (Radford et al. 2019).
[[nodiscard]] inline double output_deviation(const weights::ModelConfig& config) {
  return config.initializer_range / std::sqrt(2 * static_cast<double>(config.num_hidden_layers));
}

/// Makes a layer of BERT (Vaswani et al. 2017), given its linear layers of queries, keys and
/// values.
[[nodiscard]] inline LayerParts bert_layer(const Scope& scope, const weights::ModelConfig& config,
                                           const LayerForm& form, std::vector<Linear> qkv) {
  const std::int64_t hidden = config.hidden_size, inner = config.intermediate_size;
  return {{.activation = activation_kind(config.hidden_act),
           .heads = static_cast<std::size_t>(config.num_attention_heads)},
          std::move(qkv),
          {scope / form.attention_output, hidden, hidden},
          {scope / form.attention_norm, hidden, config.layer_norm_eps},
          {scope / form.intermediate, hidden, inner},
          {scope / form.output, inner, hidden},
          {scope / form.output_norm, hidden, config.layer_norm_eps}};
}

/// Computes the activations of a layer's feed-forward network.
[[nodiscard]] inline at::Tensor activated(const LayerParts& layer, const at::Tensor& x) {
  const at::Tensor inner = layer.intermediate(x);
  if (!layer.gate) return activate(inner, layer.traits);
  return activate(inner, layer.traits.activation).mul((*layer.gate)(x));
}

/// Computes the part of a layer after attention by operators: attention's output linear layer and a
/// feed-forward network. `context` is attention's result [rows, heads, width, size].
[[nodiscard]] inline Hidden after_attention(const LayerParts& layer, const DropoutRates& rates,
                                            const at::Tensor& context, const at::Tensor& residual,
                                            Dropout& dropout) {
  const auto normed = [](const std::optional<LayerNorm>& norm, const at::Tensor& x) {
    return norm ? (*norm)(x) : x;
  };
  const at::Tensor joined = context.transpose(1, 2).flatten(2);
  const at::Tensor attended = normed(layer.attention_result_norm, layer.attention_output(joined));
  const Hidden middle =
      add_and_norm(layer.traits, layer.norm1, residual, dropout(attended, rates.attention_output));
  const at::Tensor active = dropout(activated(layer, middle.normal), rates.gates);
  const at::Tensor result = normed(layer.result_norm, layer.output(active));
  return add_and_norm(layer.traits, layer.norm2, middle.residual, dropout(result, rates.output));
}

/// Returns the queries, keys and values of a layer, [rows, heads or key heads, width, size].
[[nodiscard]] inline std::vector<at::Tensor> queries_keys_values(const LayerParts& layer,
                                                                 const at::Tensor& x) {
  const auto heads = static_cast<std::int64_t>(layer.traits.heads);
  const auto key_heads =
      layer.traits.key_heads > 0 ? static_cast<std::int64_t>(layer.traits.key_heads) : heads;
  std::vector<at::Tensor> qkv;
  for (const Linear& map : layer.qkv) qkv.push_back(map(x));
  if (qkv.size() == 1) {
    const std::int64_t size = head_size(layer), keys = key_heads * size;
    qkv = qkv[0].split_with_sizes({heads * size, keys, keys}, -1);
  }
  const std::array<const std::optional<LayerNorm>*, 2> norms{&layer.query_norm, &layer.key_norm};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto* const norm = i < 2 && norms[i]->has_value() ? &**norms[i] : nullptr;
    const bool of_all_heads = norm != nullptr && norm->weight.size(0) == qkv[i].size(-1);
    if (of_all_heads) qkv[i] = (*norm)(qkv[i]);
    qkv[i] = split_heads(qkv[i], i == 0 ? heads : key_heads);
    if (norm != nullptr && !of_all_heads) qkv[i] = (*norm)(qkv[i]);
  }
  return qkv;
}

/// Returns x [rows, key heads, width, size] with each head as often as queries' heads share it.
[[nodiscard]] inline at::Tensor repeated(const at::Tensor& x, std::int64_t heads) {
  const std::int64_t times = heads / x.size(1);
  if (times == 1) return x;
  return x.unsqueeze(2).expand({-1, -1, times, -1, -1}).flatten(1, 2);
}

/// Computes a layer by operators: self-attention with several heads, then a feed-forward network.
/// Hidden states are [rows, width, hidden]. `rotary` rotates queries and keys if it is not null.
[[nodiscard]] inline Hidden compute(const LayerParts& layer, const DropoutRates& rates,
                                    const Hidden& x, const AttentionMask& mask,
                                    const Rotary* rotary, Dropout& dropout) {
  const LayerTraits& traits = layer.traits;
  auto qkv = queries_keys_values(layer, x.normal);
  if (rotary != nullptr) {
    qkv[0] = (*rotary)(qkv[0]);
    qkv[1] = (*rotary)(qkv[1]);
  }
  const ScoreForm form{
      .scale = traits.score_scale == 0 ? std::nullopt : std::optional{traits.score_scale},
      .cap = traits.score_cap};
  const std::int64_t heads = qkv[0].size(1);
  const at::Tensor context = attend(qkv[0], repeated(qkv[1], heads), repeated(qkv[2], heads), mask,
                                    rates.attention, dropout, form);
  return after_attention(layer, rates, context, x.residual, dropout);
}

/// The positions and masks of one batch, which layers share that have them in common.
class SharedInputs {
 public:
  explicit SharedInputs(const tensor::Batch& batch) : batch_{&batch} {}

  /// Returns the mask of a layer.
  [[nodiscard]] const AttentionMask& mask(const LayerTraits& traits) {
    const auto key = std::pair{traits.causal, traits.sliding_window};
    const auto found = masks_.find(key);
    return found != masks_.end() ? found->second
                                 : masks_.emplace(key, mask_of(*batch_, traits)).first->second;
  }

  /// Returns the angles of a layer with heads of that size, or null if it rotates nothing.
  [[nodiscard]] const Rotary* rotary(const Rope& rope, std::int64_t size) {
    if (rope.base == 0) return nullptr;
    const auto found = std::ranges::find(ropes_, rope, &std::pair<Rope, Rotary>::first);
    if (found != ropes_.end()) return &found->second;
    return &ropes_.emplace_back(rope, Rotary{tensor::positions(*batch_), size, rope}).second;
  }

 private:
  const tensor::Batch* batch_;
  std::map<std::pair<bool, std::size_t>, AttentionMask> masks_;
  std::deque<std::pair<Rope, Rotary>> ropes_;
};

/// Computes all layers of an encoder by operators. Returns the hidden states after them,
/// [rows, width, hidden] as those that go in. Layers have positions and masks by their traits.
[[nodiscard]] inline at::Tensor compute(const EncoderLayers& all, const at::Tensor& embedded,
                                        const tensor::Batch& batch, Dropout& dropout) {
  SharedInputs shared{batch};
  Hidden hidden{embedded, all.first_norm ? (*all.first_norm)(embedded) : embedded};
  for (const std::size_t i : steps(all.order, all.layers.size())) {
    const LayerParts& layer = all.layers[i];
    const Rotary* const rotary = shared.rotary(layer.traits.rope, head_size(layer));
    hidden = compute(layer, all.dropout, hidden, shared.mask(layer.traits), rotary, dropout);
  }
  return hidden.normal;
}

/// Several layers of BERT's form, each of which takes the output of the one before it.
class LayerStack {
 public:
  /// The names of layer i's parameters begin with the scope and i.
  LayerStack(const Scope& scope, const weights::ModelConfig& config, const LayerForm& form = {})
      : LayerStack{scopes(scope, config.num_hidden_layers), {}, config, form} {}

  /// Makes a layer in each scope. `order` has the index of a layer for each step; a layer may occur
  /// several times.
  /// A form with norms before its parts needs a scope of the norm after all layers.
  LayerStack(const std::vector<Scope>& scopes, std::vector<std::size_t> order,
             const weights::ModelConfig& config, const LayerForm& form,
             const std::optional<Scope>& last_norm = {})
      : parts_{{}, std::move(order), form.dropout(config), config.mean_pooling} {
    const std::int64_t size = config.hidden_size;
    for (const Scope& scope : scopes) {
      parts_.layers.push_back(
          bert_layer(scope, config, form,
                     {Linear{scope / form.query, size, size}, Linear{scope / form.key, size, size},
                      Linear{scope / form.value, size, size}}));
    }
    if (form.pre_norm) put_norms_first(parts_, {*last_norm, size, config.layer_norm_eps});
  }

  /// Takes layers of any form.
  explicit LayerStack(EncoderLayers parts) : parts_{std::move(parts)} {}

  /// Makes layers with norms before their parts.
  LayerStack(const Scope& scope, const weights::ModelConfig& config, const LayerForm& form,
             const Scope& last_norm)
      : LayerStack{scopes(scope, config.num_hidden_layers), {}, config, form, last_norm} {}

  /// Returns the hidden states after all layers, [rows, width, hidden] as those that go in.
  at::Tensor operator()(const at::Tensor& embedded, const AttentionMask& mask,
                        Dropout& dropout) const {
    const auto& first = parts_.first_norm;
    Hidden hidden{embedded, first ? (*first)(embedded) : embedded};
    for (const std::size_t i : steps(parts_.order, parts_.layers.size())) {
      hidden = compute(parts_.layers[i], parts_.dropout, hidden, mask, nullptr, dropout);
    }
    return hidden.normal;
  }

  [[nodiscard]] const EncoderLayers& parts() const { return parts_; }

 private:
  static std::vector<Scope> scopes(const Scope& scope, std::int64_t count) {
    std::vector<Scope> result;
    for (std::int64_t i = 0; i < count; ++i) result.push_back(scope.layer(i));
    return result;
  }

  EncoderLayers parts_;
};

}  // namespace seqtrain::model
