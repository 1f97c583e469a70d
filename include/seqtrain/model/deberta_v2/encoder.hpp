#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/deberta_v2/config.hpp>
#include <seqtrain/model/deberta_v2/convolution.hpp>
#include <seqtrain/model/deberta_v2/distances.hpp>
#include <seqtrain/model/deberta_v2/embeddings.hpp>
#include <seqtrain/model/deberta_v2/layer.hpp>
#include <seqtrain/model/nn/attention.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::model {

/// Ids → the hidden states of first tokens. There are no hand-written passes for it.
class DebertaV2Encoder {
 public:
  DebertaV2Encoder(const Scope& scope, const DebertaV2Config& config)
      : embeddings_{scope / "embeddings", config} {
    const Scope encoder = scope / "encoder";
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
      layers_.emplace_back(encoder / "layer" / std::to_string(i), config);
    }
    if (config.relative_attention) distances_.emplace(encoder, config);
    if (config.conv_kernel_size > 0) convolution_.emplace(encoder / "conv", config);
  }

  /// [rows, hidden]
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    const AttentionMask mask = mask_of(batch);
    const std::int64_t width = batch.input_ids.size(1);
    std::optional<BatchDistances> distances;
    if (distances_) distances = (*distances_)(width);
    const at::Tensor embeddings = embeddings_(batch, dropout);
    at::Tensor hidden = embeddings;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      hidden = layers_[i](hidden, mask, distances, dropout);
      if (i > 0 || !convolution_) continue;
      const at::Tensor is_token =
          tensor::attention_mask(batch).view(batch.input_ids.sizes()).unsqueeze(-1);
      hidden = (*convolution_)(embeddings, hidden, is_token, dropout);
    }
    return hidden.select(1, 0);
  }

 private:
  DebertaV2Embeddings embeddings_;
  std::vector<DebertaV2Layer> layers_;
  std::optional<Distances> distances_;
  std::optional<DebertaV2Convolution> convolution_;
};

}  // namespace seqtrain::model
