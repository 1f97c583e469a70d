#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/families/bert/embeddings.hpp>
#include <seqtrain/model/families/encoder_layer.hpp>
#include <seqtrain/model/families/longformer/config.hpp>
#include <seqtrain/model/families/longformer/windowed_attention.hpp>
#include <seqtrain/model/families/roberta/config.hpp>
#include <seqtrain/model/families/roberta/roberta.hpp>
#include <seqtrain/model/nn/classification_head.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/sentence_head.hpp>
#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::model {

/// A layer of Longformer. The first token has queries, and all tokens have keys and values for it,
/// from linear layers of their own.
class LongformerLayer {
 public:
  LongformerLayer(const Scope& scope, const LongformerConfig& config, std::int64_t window)
      : rates_{form.dropout(config)},
        parts_{bert_layer(scope, config, form, qkv(scope, config, ""))},
        first_qkv_{qkv(scope, config, "_global")},
        heads_{config.num_attention_heads},
        reach_{window / 2} {}

  /// Returns hidden states [rows, width, hidden] for those of the layer before.
  at::Tensor operator()(const at::Tensor& x, const tensor::Batch& batch, Dropout& dropout) const {
    const auto qkv_of = [&](const Linear& map, const at::Tensor& states) {
      return split_heads(map(states), heads_);
    };
    const auto& maps = parts_.qkv;
    const at::Tensor context =
        windowed_attention({qkv_of(maps[0], x), qkv_of(maps[1], x), qkv_of(maps[2], x)},
                           {qkv_of(first_qkv_[0], x.narrow(1, 0, 1)), qkv_of(first_qkv_[1], x),
                            qkv_of(first_qkv_[2], x)},
                           batch, reach_, rates_.attention, dropout);
    return after_attention(parts_, rates_, context, x, dropout).normal;
  }

 private:
  static constexpr LayerForm form{};

  static std::vector<Linear> qkv(const Scope& scope, const LongformerConfig& config,
                                 std::string_view ending) {
    std::vector<Linear> maps;
    for (const std::string_view name : {form.query, form.key, form.value}) {
      maps.emplace_back(scope / std::string{name}.append(ending), config.hidden_size,
                        config.hidden_size);
    }
    return maps;
  }

  DropoutRates rates_;
  LayerParts parts_;
  std::vector<Linear> first_qkv_;
  std::int64_t heads_, reach_;
};

/// Computes the hidden states of first tokens, or the means of all, from ids.
class LongformerEncoder {
 public:
  LongformerEncoder(const Scope& scope, const LongformerConfig& config)
      : embeddings_{scope / "embeddings", config, config.hidden_size, Positions::after_padding},
        mean_pooling_{config.mean_pooling} {
    const Scope layers = scope / "encoder.layer";
    for (std::size_t i = 0; i < config.windows.size(); ++i) {
      layers_.emplace_back(layers.layer(static_cast<std::int64_t>(i)), config, config.windows[i]);
    }
  }

  /// Returns [rows, hidden].
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    at::Tensor hidden = embeddings_(batch, dropout);
    for (const LongformerLayer& layer : layers_) hidden = layer(hidden, batch, dropout);
    return pooled(hidden, batch, mean_pooling_);
  }

 private:
  BertEmbeddings embeddings_;
  std::vector<LongformerLayer> layers_;
  bool mean_pooling_;
};

/// Longformer (Beltagy et al. 2020): RoBERTa for long texts. A token attends to those in a window
/// around it and to the first one, which attends to all.
struct Longformer {
  static constexpr std::string_view model_type = "longformer";
  static constexpr std::string_view prefix = "longformer";
  static constexpr std::string_view classifier = "LongformerForSequenceClassification";
  using Config = LongformerConfig;
  using Encoder = LongformerEncoder;
  using Head = ClassificationHead<Longformer>;

  static constexpr auto read_config = read_longformer_config;

  static HeadForm head_form(const Config& config) { return Roberta::head_form(config); }

  static std::int64_t max_length(const Config& config) { return length_after_padding(config); }
};

}  // namespace seqtrain::model
