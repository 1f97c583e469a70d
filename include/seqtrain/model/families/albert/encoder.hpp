#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/families/albert/config.hpp>
#include <seqtrain/model/families/bert/embeddings.hpp>
#include <seqtrain/model/nn/attention.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/encoder_layer.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::model {

/// Computes the hidden states of first tokens from ids.
class AlbertEncoder {
 public:
  AlbertEncoder(const Scope& scope, const AlbertConfig& config)
      : embeddings_{scope / "embeddings", config, config.embedding_size},
        projection_{scope / "encoder.embedding_hidden_mapping_in", config.embedding_size,
                    config.hidden_size},
        passes_{config.num_hidden_layers},
        dropout_{form.dropout(config)},
        has_kernels_{cpu::supports(config) && cpu::supports(config.embedding_size)} {
    for (std::int64_t group = 0; group < config.num_hidden_groups; ++group) {
      const Scope layers =
          scope / "encoder.albert_layer_groups" / std::to_string(group) / "albert_layers";
      auto& stack = groups_.emplace_back();
      for (std::int64_t i = 0; i < config.inner_group_num; ++i) {
        stack.emplace_back(layers / std::to_string(i), config, form);
      }
    }
  }

  /// Returns [rows, hidden].
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    const AttentionMask mask = mask_of(batch);
    at::Tensor hidden = projection_(embeddings_(batch, dropout));
    for (std::int64_t pass = 0; pass < passes_; ++pass) {
      for (const auto& layer : groups_[group_index(pass)]) hidden = layer(hidden, mask, dropout);
    }
    return hidden.select(1, 0);
  }

  /// Returns the encoder for the hand-written passes.
  template <class T>
  [[nodiscard]] std::optional<cpu::EncoderParts<T>> cpu_parts() const {
    if (!has_kernels_) return {};
    cpu::EncoderParts<T> parts{.embeddings = embeddings_.cpu_part(),
                               .projection = cpu::linear<T>({projection_}),
                               .layers = {},
                               .dropout = dropout_};
    for (const auto& group : groups_) {
      for (const auto& layer : group) parts.layers.push_back(layer.template cpu_part<T>());
    }
    const std::size_t layers_of_group = groups_.front().size();
    for (std::int64_t pass = 0; pass < passes_; ++pass) {
      for (std::size_t i = 0; i < layers_of_group; ++i) {
        parts.order.push_back(group_index(pass) * layers_of_group + i);
      }
    }
    return parts;
  }

 private:
  static constexpr LayerForm form{.query = "attention.query",
                                  .key = "attention.key",
                                  .value = "attention.value",
                                  .attention_output = "attention.dense",
                                  .attention_norm = "attention.LayerNorm",
                                  .intermediate = "ffn",
                                  .output = "ffn_output",
                                  .output_norm = "full_layer_layer_norm",
                                  .drops_output = false};

  [[nodiscard]] std::size_t group_index(std::int64_t pass) const {
    const double passes_of_group =
        static_cast<double>(passes_) / static_cast<double>(groups_.size());
    return static_cast<std::size_t>(static_cast<double>(pass) / passes_of_group);
  }

  BertEmbeddings embeddings_;
  Linear projection_;
  std::int64_t passes_;  ///< number of passes through groups of layers
  std::vector<std::vector<EncoderLayer>> groups_;
  cpu::DropoutRates dropout_;
  bool has_kernels_;
};

}  // namespace seqtrain::model
