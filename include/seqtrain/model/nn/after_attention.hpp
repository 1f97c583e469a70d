#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/cpu/layer.hpp>
#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layer_form.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/model/packed/layer_parts.hpp>
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
        activation_kind_{cpu::activation_kind(config.hidden_act)},
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
  cpu::ActivationKind activation_kind_;
  std::int64_t heads_;
  cpu::DropoutRates rates_;
};

}  // namespace seqtrain::model
