#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/conv1d.h>

#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/cpu/embeddings.hpp>
#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/cpu/linear.hpp>
#include <seqtrain/model/families/deberta_v2/config.hpp>
#include <seqtrain/model/families/deberta_v2/distances.hpp>
#include <seqtrain/model/families/deberta_v2/layer.hpp>
#include <seqtrain/model/families/encoder_layer.hpp>
#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/classification_head.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/model/nn/sentence_head.hpp>
#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::model {

/// DeBERTa's input: words, and positions and token types if the configuration has them.
class DebertaV2Embeddings {
 public:
  DebertaV2Embeddings(const Scope& scope, const DebertaV2Config& config)
      : word_{scope / "word_embeddings", config.vocab_size, config.embedding_size,
              config.pad_token_id},
        position_{
            table<Embedding>(scope, "position_embeddings", config,
                             config.position_biased_input ? config.max_position_embeddings : 0)},
        type_{table<TypeEmbedding>(scope, "token_type_embeddings", config, config.type_vocab_size)},
        projection_{projection(scope, config)},
        norm_{scope / "LayerNorm", config.hidden_size, config.layer_norm_eps},
        dropout_{config.hidden_dropout_prob} {}

  /// Returns [rows, width, hidden], which is zero for padding.
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    const at::Tensor& ids = batch.input_ids;
    at::Tensor sum = word_(ids);
    if (position_) sum = sum.add((*position_)(tensor::positions(batch)));
    if (type_) sum = sum.add((*type_)(batch.token_type_ids));
    if (projection_) sum = (*projection_)(sum);
    sum = norm_(sum);
    if (batch.padded) sum = sum.mul(tensor::attention_mask(batch).view(ids.sizes()).unsqueeze(-1));
    return dropout(sum, dropout_);
  }

  /// Returns the embeddings for the hand-written backend, which does not project them.
  [[nodiscard]] cpu::Embeddings cpu_part() const {
    cpu::Embeddings part{.word = cpu::table(word_), .norm = cpu::norm(norm_)};
    if (position_) part.position = cpu::table(*position_);
    if (type_) part.type = cpu::table(*type_);
    return part;
  }

 private:
  template <class Table>
  static std::optional<Table> table(const Scope& scope, std::string_view name,
                                    const DebertaV2Config& config, std::int64_t rows) {
    if (rows == 0) return {};
    return Table{scope / name, rows, config.embedding_size};
  }

  static std::optional<Linear> projection(const Scope& scope, const DebertaV2Config& config) {
    if (config.embedding_size == config.hidden_size) return {};
    return Linear{scope / "embed_proj", config.embedding_size, config.hidden_size, false};
  }

  WordEmbedding word_;
  std::optional<Embedding> position_;
  std::optional<TypeEmbedding> type_;
  std::optional<Linear> projection_;
  LayerNorm norm_;
  double dropout_;
};

/// The convolution beside the first layer of DeBERTa-v2. It mixes each token's embeddings with its
/// neighbours'.
class DebertaV2Convolution {
 public:
  DebertaV2Convolution(const Scope& scope, const DebertaV2Config& config)
      : parts_{(scope / "conv")
                   .make("weight",
                         {config.hidden_size, config.hidden_size / config.conv_groups,
                          config.conv_kernel_size},
                         Role::weight),
               (scope / "conv").make("bias", {config.hidden_size}, Role::bias),
               {scope / "LayerNorm", config.hidden_size, config.layer_norm_eps},
               activation_named(config.conv_act),
               config.hidden_dropout_prob},
        groups_{config.conv_groups} {}

  /// Returns the layer's output with the convolution of the embeddings added, all [rows, width,
  /// hidden]. Embeddings must be zero where `is_token`, bool [rows, width, 1], is false.
  at::Tensor operator()(const at::Tensor& embeddings, const at::Tensor& output,
                        const at::Tensor& is_token, Dropout& dropout) const {
    const at::Tensor& weight = parts_.weight;
    const at::Tensor mixed = at::conv1d(embeddings.transpose(1, 2), weight, parts_.bias, 1,
                                        weight.size(2) / 2, 1, groups_)
                                 .transpose(1, 2)
                                 .mul(is_token);
    return parts_.norm(output.add(parts_.activation(dropout(mixed, parts_.dropout))));
  }

  [[nodiscard]] const ConvolutionParts& parts() const { return parts_; }

 private:
  static Activation activation_named(std::string_view name) {
    if (name == "tanh") return [](const at::Tensor& x) { return x.tanh(); };
    return activation(name);
  }

  ConvolutionParts parts_;
  std::int64_t groups_;
};

/// Computes the hidden states of first tokens from ids.
class DebertaV2Encoder {
 public:
  DebertaV2Encoder(const Scope& scope, const DebertaV2Config& config)
      : embeddings_{scope / "embeddings", config}, config_{config} {
    const Scope encoder = scope / "encoder";
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
      layers_.emplace_back((encoder / "layer").layer(i), config);
    }
    if (config.relative_attention) distances_.emplace(encoder.late(), config);
    if (config.conv_kernel_size > 0) convolution_.emplace(encoder.late() / "conv", config);
  }

  /// Returns [rows, hidden].
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    const AttentionMask mask = mask_of(batch);
    const std::int64_t width = batch.input_ids.size(1);
    std::optional<BatchDistances> distances;
    if (distances_) distances = (*distances_)(width);
    const at::Tensor embeddings = embed(batch, dropout);
    at::Tensor hidden = embeddings;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      hidden = layers_[i](hidden, mask, distances, dropout);
      if (i > 0 || !convolution_) continue;
      const at::Tensor is_token =
          tensor::attention_mask(batch).view(batch.input_ids.sizes()).unsqueeze(-1);
      hidden = (*convolution_)(embeddings, hidden, is_token, dropout);
    }
    return pooled(hidden, batch, config_.mean_pooling);
  }

  [[nodiscard]] at::Tensor embed(const tensor::Batch& batch, Dropout& dropout) const {
    return embeddings_(batch, dropout);
  }

  /// Returns the layers, or nothing if there is a convolution in groups.
  [[nodiscard]] std::optional<EncoderLayers> layers() const {
    if (convolution_ && config_.conv_groups > 1) return {};
    EncoderLayers all{{}, {}, LayerForm{}.dropout(config_), config_.mean_pooling};
    all.dropout.distances = config_.hidden_dropout_prob;
    if (convolution_) all.convolution = convolution_->parts();
    for (const auto& layer : layers_) {
      all.layers.push_back(layer.parts());
      if (!has_distances()) continue;
      all.layers.back().bias = [layer](const auto&... numbers) { return layer.bias(numbers...); };
      all.distances = *distances_;
    }
    return all;
  }

  /// Returns the encoder for the hand-written backend, which has no embeddings of another size than
  /// the hidden states', and no convolution by tanh or beside the last layer.
  template <class T>
  [[nodiscard]] std::optional<cpu::EncoderParts<T>> cpu_parts() const {
    const auto all = layers();
    const bool fits = !convolution_ || (config_.conv_act != "tanh" && layers_.size() > 1);
    if (!all || !fits || config_.embedding_size != config_.hidden_size) return {};
    auto parts = cpu::encoder<T>(embeddings_.cpu_part(), *all);
    if (parts && convolution_) {
      const ConvolutionParts& of = convolution_->parts();
      const at::Tensor weight = of.weight.detach().transpose(1, 2).flatten(1);
      parts->convolution = {cpu::PackedLinear<T>{{{weight, of.bias, {}, {}}}}, cpu::norm(of.norm),
                            activation_kind(config_.conv_act)};
    }
    if (parts && has_distances()) {
      parts->vectors = distances_->template cpu_parts<T>();
      parts->vectors->has_queries = config_.position_to_content;
      parts->vectors->has_keys = config_.content_to_position;
      for (const auto& layer : layers_) {
        parts->vectors->maps.push_back(layer.template cpu_distance_map<T>());
      }
    }
    return parts;
  }

 private:
  /// Tells whether scores depend on distances.
  [[nodiscard]] bool has_distances() const {
    return distances_ && (config_.content_to_position || config_.position_to_content);
  }

  DebertaV2Embeddings embeddings_;
  DebertaV2Config config_;
  std::vector<DebertaV2Layer> layers_;
  std::optional<Distances> distances_;
  std::optional<DebertaV2Convolution> convolution_;
};

/// DeBERTa-v2 and DeBERTa-v3 (He et al. 2021): attention depends on distances in place of absolute
/// positions. Both versions call themselves deberta-v2.
struct DebertaV2 {
  static constexpr std::string_view model_type = "deberta-v2";
  static constexpr std::string_view prefix = "deberta";
  static constexpr std::string_view classifier = "DebertaV2ForSequenceClassification";
  using Config = DebertaV2Config;
  using Encoder = DebertaV2Encoder;
  using Head = ClassificationHead<DebertaV2>;

  static constexpr auto read_config = read_deberta_v2_config;

  static HeadForm head_form(const Config& config) {
    return {.dense = "pooler.dense",
            .activation = activation(config.pooler_hidden_act),
            .input_dropout = config.pooler_dropout};
  }

  static std::int64_t max_length(const Config& config) { return config.max_position_embeddings; }
};

}  // namespace seqtrain::model
