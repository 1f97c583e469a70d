#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>

#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/cpu/layer.hpp>
#include <seqtrain/model/families/layer_form.hpp>
#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/packed/map.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// The part of an encoder's layer after attention: attention's output map and a feed-forward
/// network, each followed by dropout, a residual connection and layer normalization.
class AfterAttention {
 public:
  AfterAttention(const Scope& scope, const weights::ModelConfig& config, const LayerForm& form)
      : attention_output_{scope / form.attention_output, config.hidden_size, config.hidden_size},
        attention_norm_{scope / form.attention_norm, config.hidden_size, config.layer_norm_eps},
        intermediate_{scope / form.intermediate, config.hidden_size, config.intermediate_size},
        output_{scope / form.output, config.intermediate_size, config.hidden_size},
        output_norm_{scope / form.output_norm, config.hidden_size, config.layer_norm_eps},
        activation_{activation(config.hidden_act)},
        activation_kind_{activation_kind(config.hidden_act)},
        heads_{config.num_attention_heads},
        rates_{form.dropout(config)} {}

  /// Returns the layer's result [rows, width, hidden], given attention's result `context` [rows,
  /// heads, width, hidden / heads] and the layer's input x [rows, width, hidden].
  at::Tensor operator()(const at::Tensor& context, const at::Tensor& x, Dropout& dropout) const {
    const at::Tensor attended =
        attention_norm_(dropout(attention_output_(context.transpose(1, 2).reshape(x.sizes())),
                                rates_.attention_output)
                            .add(x));
    const at::Tensor output = output_(activation_(intermediate_(attended)));
    return output_norm_(dropout(output, rates_.output).add(attended));
  }

  /// Returns the layer for the hand-written passes, given its map of queries, keys and values.
  template <class T>
  [[nodiscard]] cpu::Layer<T> cpu_part(cpu::Linear<T> qkv) const {
    return {.qkv = std::move(qkv),
            .attention_output = cpu::linear<T>({attention_output_}),
            .intermediate = cpu::linear<T>({intermediate_}),
            .output = cpu::linear<T>({output_}),
            .norm1 = cpu::norm(attention_norm_),
            .norm2 = cpu::norm(output_norm_),
            .activation = activation_kind_,
            .heads = static_cast<std::size_t>(heads_)};
  }

  /// Returns the layer for packed rows, given its maps of queries, keys and values.
  [[nodiscard]] packed::LayerParts packed_part(std::vector<Linear> qkv) const {
    return {.qkv = std::move(qkv),
            .attention_output = attention_output_,
            .intermediate = intermediate_,
            .output = output_,
            .attention_norm = attention_norm_,
            .output_norm = output_norm_,
            .activation = activation_kind_,
            .heads = heads_,
            .dropout = rates_};
  }

 private:
  Linear attention_output_;
  LayerNorm attention_norm_;
  Linear intermediate_, output_;
  LayerNorm output_norm_;
  Activation activation_;
  ActivationKind activation_kind_;
  std::int64_t heads_;
  cpu::DropoutRates rates_;
};

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

}  // namespace seqtrain::model
