#pragma once

#include <optional>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/families/bert/embeddings.hpp>
#include <seqtrain/model/families/electra/config.hpp>
#include <seqtrain/model/nn/attention.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/encoder_layer.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::model {

/// Computes the hidden states of first tokens from ids. Embeddings of another size than the hidden
/// states' are projected.
class ElectraEncoder {
 public:
  ElectraEncoder(const Scope& scope, const ElectraConfig& config)
      : embeddings_{scope / "embeddings", config, config.embedding_size},
        projection_{projection(scope, config)},
        layers_{scope / "encoder.layer", config} {}

  /// Returns [rows, hidden].
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    return layers_(embed(batch, dropout), mask_of(batch), dropout).select(1, 0);
  }

  [[nodiscard]] at::Tensor embed(const tensor::Batch& batch, Dropout& dropout) const {
    const at::Tensor embedded = embeddings_(batch, dropout);
    return projection_ ? (*projection_)(embedded) : embedded;
  }
  [[nodiscard]] const LayerStack& layers() const { return layers_; }

  /// Returns the encoder for the hand-written passes.
  template <class T>
  [[nodiscard]] std::optional<cpu::EncoderParts<T>> cpu_parts() const {
    if (projection_ && !cpu::supports(projection_->weight.size(1))) return {};
    auto parts = layers_.template cpu_parts<T>(embeddings_.cpu_part());
    if (parts && projection_) parts->projection.emplace(cpu::linear<T>({*projection_}));
    return parts;
  }

 private:
  static std::optional<Linear> projection(const Scope& scope, const ElectraConfig& config) {
    if (config.embedding_size == config.hidden_size) return {};
    return Linear{scope / "embeddings_project", config.embedding_size, config.hidden_size};
  }

  BertEmbeddings embeddings_;
  std::optional<Linear> projection_;
  LayerStack layers_;
};

}  // namespace seqtrain::model
