#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>

#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// Changes the scores of attention before softmax.
struct AttentionMask {
  /// Tells which keys a query may attend to: bool [rows, 1, 1, width], or nothing for all keys.
  std::optional<at::Tensor> keys = {};
  /// Numbers that are added to scores: [1 or rows, heads, width, width].
  std::optional<at::Tensor> bias = {};
};

/// Returns a mask that leaves out a batch's padding.
[[nodiscard]] inline AttentionMask mask_of(const tensor::Batch& batch) {
  if (!batch.padded) return {};
  return {.keys = tensor::attention_mask(batch)};
}

/// Returns x [rows, width, hidden] as [rows, heads, width, hidden / heads].
[[nodiscard]] inline at::Tensor split_heads(const at::Tensor& x, std::int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

/// Computes softmax(q kᵀ / √size + bias) v with dropout on the probabilities, which are fp32 even
/// under autocast. All tensors are [rows, heads, width, size].
inline at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                         const AttentionMask& mask, double probability, Dropout& dropout) {
  constexpr auto lowest = -std::numeric_limits<float>::infinity();
  const auto masked = [&](const at::Tensor& scores) {
    return mask.keys ? scores.masked_fill(mask.keys->logical_not(), lowest) : scores;
  };
  if (!dropout.active(probability)) {
    const std::optional<at::Tensor> given = mask.bias ? masked(*mask.bias) : mask.keys;
    return at::scaled_dot_product_attention(q, k, v, given);
  }
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  at::Tensor scores = at::matmul(q.mul(scale), k.transpose(-2, -1));
  if (mask.bias) scores = scores.add(*mask.bias);
  return at::matmul(dropout(at::softmax(masked(scores), -1, at::kFloat), probability), v);
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

  /// Returns the probabilities of dropout in an encoder of such layers.
  [[nodiscard]] DropoutRates dropout(const weights::ModelConfig& config) const {
    const double hidden = config.hidden_dropout_prob;
    return {.embeddings = hidden,
            .attention = config.attention_probs_dropout_prob,
            .attention_output = drops_attention_output ? hidden : 0,
            .output = drops_output ? hidden : 0};
  }
};

/// Makes a layer of BERT (Vaswani et al. 2017), given its maps of queries, keys and values.
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

/// Computes the part of a layer after attention by operators: attention's output map and a
/// feed-forward network. `context` is attention's result [rows, heads, width, hidden / heads].
[[nodiscard]] inline Hidden after_attention(const LayerParts& layer, const DropoutRates& rates,
                                            const at::Tensor& context, const at::Tensor& residual,
                                            Dropout& dropout) {
  const at::Tensor joined = context.transpose(1, 2).reshape(residual.sizes());
  const at::Tensor attended = dropout(layer.attention_output(joined), rates.attention_output);
  const Hidden middle = add_and_norm(layer.traits, layer.norm1, residual, attended);
  const at::Tensor active =
      dropout(activate(layer.intermediate(middle.normal), layer.traits), rates.gates);
  return add_and_norm(layer.traits, layer.norm2, middle.residual,
                      dropout(layer.output(active), rates.output));
}

/// Computes a layer by operators: self-attention with several heads, then a feed-forward network.
/// Hidden states are [rows, width, hidden]. `rotary` turns queries and keys if it is not null.
[[nodiscard]] inline Hidden compute(const LayerParts& layer, const DropoutRates& rates,
                                    const Hidden& x, const AttentionMask& mask,
                                    const Rotary* rotary, Dropout& dropout) {
  std::vector<at::Tensor> qkv;
  for (const Linear& map : layer.qkv) qkv.push_back(map(x.normal));
  if (qkv.size() == 1) qkv = qkv[0].chunk(3, -1);
  for (at::Tensor& some : qkv) {
    some = split_heads(some, static_cast<std::int64_t>(layer.traits.heads));
    if (rotary != nullptr && &some != &qkv[2]) some = (*rotary)(some);
  }
  const at::Tensor context = attend(qkv[0], qkv[1], qkv[2], mask, rates.attention, dropout);
  return after_attention(layer, rates, context, x.residual, dropout);
}

/// Several layers of BERT's form, each of which takes the output of the one before it.
class LayerStack {
 public:
  /// The names of layer i's parameters begin with the scope and i.
  LayerStack(const Scope& scope, const weights::ModelConfig& config, const LayerForm& form = {})
      : LayerStack{scopes(scope, config.num_hidden_layers), {}, config, form} {}

  /// Makes a layer in each scope. `order` has the index of a layer for each step; a layer may occur
  /// several times.
  LayerStack(const std::vector<Scope>& scopes, std::vector<std::size_t> order,
             const weights::ModelConfig& config, const LayerForm& form)
      : parts_{{}, std::move(order), form.dropout(config), config.mean_pooling} {
    const std::int64_t size = config.hidden_size;
    for (const Scope& scope : scopes) {
      parts_.layers.push_back(
          bert_layer(scope, config, form,
                     {Linear{scope / form.query, size, size}, Linear{scope / form.key, size, size},
                      Linear{scope / form.value, size, size}}));
    }
  }

  /// Returns the hidden states after all layers, [rows, width, hidden] as those that go in.
  at::Tensor operator()(const at::Tensor& embedded, const AttentionMask& mask,
                        Dropout& dropout) const {
    Hidden hidden{embedded, embedded};
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
