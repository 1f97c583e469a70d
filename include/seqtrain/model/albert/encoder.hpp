#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/albert/config.hpp>
#include <seqtrain/model/bert/embeddings.hpp>
#include <seqtrain/model/nn/attention.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/encoder_layer.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::model {

/// Ids → the hidden states of first tokens. There are no hand-written passes for it: they have no
/// layers with shared weights.
class AlbertEncoder {
 public:
  AlbertEncoder(const Scope& scope, const AlbertConfig& config)
      : embeddings_{scope / "embeddings", config, config.embedding_size},
        projection_{scope / "encoder.embedding_hidden_mapping_in", config.embedding_size,
                    config.hidden_size},
        passes_{config.num_hidden_layers} {
    for (std::int64_t group = 0; group < config.num_hidden_groups; ++group) {
      const Scope layers =
          scope / "encoder.albert_layer_groups" / std::to_string(group) / "albert_layers";
      auto& stack = groups_.emplace_back();
      for (std::int64_t i = 0; i < config.inner_group_num; ++i) {
        stack.emplace_back(layers / std::to_string(i), config, form);
      }
    }
  }

  /// [rows, hidden]
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    const AttentionMask mask = mask_of(batch);
    at::Tensor hidden = projection_(embeddings_(batch, dropout));
    for (std::int64_t pass = 0; pass < passes_; ++pass) {
      for (const auto& layer : group_of(pass)) hidden = layer(hidden, mask, dropout);
    }
    return hidden.select(1, 0);
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

  [[nodiscard]] const std::vector<EncoderLayer>& group_of(std::int64_t pass) const {
    const double passes_of_group =
        static_cast<double>(passes_) / static_cast<double>(groups_.size());
    return groups_[static_cast<std::size_t>(static_cast<double>(pass) / passes_of_group)];
  }

  BertEmbeddings embeddings_;
  Linear projection_;
  std::int64_t passes_;  ///< through groups
  std::vector<std::vector<EncoderLayer>> groups_;
};

}  // namespace seqtrain::model
