#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/families/bert/embeddings.hpp>
#include <seqtrain/model/families/encoder_layer.hpp>
#include <seqtrain/model/nn/classification_head.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/model/nn/sentence_head.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// Computes pooled hidden states from ids, by embeddings and a stack of layers.
/// `Family` has the members `positions`, `embedding_form`, `layers`, the scope of the layers, and
/// `layer_form`, as `BertFamily` has, and `last_norm`, the scope of the norm after the layers, if
/// norms come first. In place of the last three it may have `layer_stack(scope, config)`. If it has
/// an `embedding_norm`, that is the scope of the embeddings' norm. If its
/// `Config` has an `embedding_size` that differs from the hidden states' size, the embeddings are
/// projected; if `Family` has a `projection`, the scope of the linear layer, they always are.
template <class Family>
class BertEncoder {
 public:
  BertEncoder(const Scope& scope, const typename Family::Config& config)
      : embeddings_{scope / "embeddings", config, embedding_size(config), Family::positions,
                    embedding_form(scope, config)},
        projection_{projection(scope, embedding_size(config), config.hidden_size)},
        layers_{stack(scope, config)} {}

  /// Returns [rows, hidden].
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    return pooled(compute(layers(), embed(batch, dropout), batch, dropout), batch,
                  layers().mean_pooling);
  }

  [[nodiscard]] at::Tensor embed(const tensor::Batch& batch, Dropout& dropout) const {
    const at::Tensor embedded = embeddings_(batch, dropout);
    return projection_ ? (*projection_)(embedded) : embedded;
  }
  [[nodiscard]] const EncoderLayers& layers() const { return layers_.parts(); }

  /// Returns the encoder for the hand-written backend.
  template <class T>
  [[nodiscard]] std::optional<cpu::EncoderParts<T>> cpu_parts() const {
    if (!embeddings_.has_cpu_part()) return {};
    if (projection_ && !cpu::supports(projection_->weight.size(1))) return {};
    auto parts = cpu::encoder<T>(embeddings_.cpu_part(), layers());
    if (parts && projection_) parts->projection.emplace(cpu::linear<T>({*projection_}));
    return parts;
  }

 private:
  template <class Config>
  static std::int64_t embedding_size(const Config& config) {
    if constexpr (requires { config.embedding_size; }) return config.embedding_size;
    return config.hidden_size;
  }

  static EmbeddingForm embedding_form(const Scope& scope, const typename Family::Config& config) {
    EmbeddingForm form = Family::embedding_form(config);
    if constexpr (requires { Family::embedding_norm; }) {
      form.norm_scope = scope / Family::embedding_norm;
    }
    return form;
  }

  static std::optional<Linear> projection(const Scope& scope, std::int64_t from, std::int64_t to) {
    if constexpr (requires { Family::projection; }) {
      return Linear{scope / Family::projection, from, to};
    }
    if (from == to) return {};
    return Linear{scope / "embeddings_project", from, to};
  }

  static LayerStack stack(const Scope& scope, const typename Family::Config& config) {
    if constexpr (requires { Family::layer_stack(scope, config); }) {
      return Family::layer_stack(scope, config);
    }
    if constexpr (Family::layer_form.pre_norm) {
      return {scope / Family::layers, config, Family::layer_form,
              scope.after_layers() / Family::last_norm};
    }
    return {scope / Family::layers, config, Family::layer_form};
  }

  BertEmbeddings embeddings_;
  std::optional<Linear> projection_;
  LayerStack layers_;
};

/// The members of a family that differs from BERT only in names, sizes and positions. A family
/// defines anew the members in which it differs.
template <class Family, class FamilyConfig = weights::ModelConfig>
struct BertFamily {
  static constexpr Positions positions = Positions::from_zero;
  static constexpr std::string_view layers = "encoder.layer";
  static constexpr LayerForm layer_form{};
  using Config = FamilyConfig;
  using Encoder = BertEncoder<Family>;
  using Head = ClassificationHead<Family>;

  static EmbeddingForm embedding_form(const Config&) { return {}; }
  static std::int64_t max_length(const Config& config) { return config.max_position_embeddings; }
};

/// The BERT family (Devlin et al. 2019).
struct Bert : BertFamily<Bert> {
  static constexpr std::string_view model_type = "bert";
  static constexpr std::string_view prefix = "bert";
  static constexpr std::string_view classifier = "BertForSequenceClassification";

  static Config read_config(const weights::ConfigFile& file) { return weights::read_config(file); }

  static HeadForm head_form(const Config&) { return {.dense = "bert.pooler.dense"}; }
};

}  // namespace seqtrain::model
