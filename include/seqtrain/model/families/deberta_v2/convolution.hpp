#pragma once

#include <cstdint>
#include <string_view>

#include <ATen/core/Tensor.h>
#include <ATen/ops/conv1d.h>

#include <seqtrain/model/families/deberta_v2/config.hpp>
#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>

namespace seqtrain::model {

/// The convolution beside the first layer of DeBERTa-v2. It mixes each token's embeddings with its
/// neighbours'.
class DebertaV2Convolution {
 public:
  DebertaV2Convolution(const Scope& scope, const DebertaV2Config& config)
      : weight_{(scope / "conv")
                    .make("weight",
                          {config.hidden_size, config.hidden_size / config.conv_groups,
                           config.conv_kernel_size},
                          Role::weight)},
        bias_{(scope / "conv").make("bias", {config.hidden_size}, Role::bias)},
        norm_{scope / "LayerNorm", config.hidden_size, config.layer_norm_eps},
        activation_{activation_named(config.conv_act)},
        groups_{config.conv_groups},
        dropout_{config.hidden_dropout_prob} {}

  /// Returns the layer's output with the convolution of the embeddings added, all [rows, width,
  /// hidden]. Embeddings must be zero where `is_token`, bool [rows, width, 1], is false.
  at::Tensor operator()(const at::Tensor& embeddings, const at::Tensor& output,
                        const at::Tensor& is_token, Dropout& dropout) const {
    const at::Tensor mixed =
        at::conv1d(embeddings.transpose(1, 2), weight_, bias_, 1, weight_.size(2) / 2, 1, groups_)
            .transpose(1, 2)
            .mul(is_token);
    return norm_(output.add(activation_(dropout(mixed, dropout_))));
  }

 private:
  static Activation activation_named(std::string_view name) {
    if (name == "tanh") return [](const at::Tensor& x) { return x.tanh(); };
    return activation(name);
  }

  at::Tensor weight_;  ///< [hidden, hidden / groups, kernel]
  at::Tensor bias_;    ///< [hidden]
  LayerNorm norm_;
  Activation activation_;
  std::int64_t groups_;
  double dropout_;
};

}  // namespace seqtrain::model
