#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <seqtrain/model/families/bert/embeddings.hpp>
#include <seqtrain/model/families/encoder_layer.hpp>
#include <seqtrain/model/families/esm/config.hpp>
#include <seqtrain/model/families/roberta/config.hpp>
#include <seqtrain/model/nn/classification_head.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/rope.hpp>
#include <seqtrain/model/nn/sentence_head.hpp>
#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::model {

/// Computes the hidden states of first tokens, or the means of all, from ids.
class EsmEncoder {
 public:
  EsmEncoder(const Scope& scope, const EsmConfig& config)
      : words_{scope / "embeddings.word_embeddings", config.vocab_size, config.hidden_size,
               config.pad_token_id},
        mask_id_{config.token_dropout ? config.mask_token_id : -1} {
    const Scope embeddings = scope / "embeddings";
    if (!config.rotary) {
      positions_.emplace(embeddings / "position_embeddings", config.max_position_embeddings,
                         config.hidden_size, config.pad_token_id);
    }
    if (config.norms_embeddings) {
      norm_.emplace(embeddings / "layer_norm", config.hidden_size, config.layer_norm_eps);
    }
    const Rope rope = config.rotary ? rope_of(scope, config) : Rope{};
    layers_ = LayerStack{scope / "encoder.layer", config, form,
                         scope.after_layers() / "encoder.emb_layer_norm_after"}
                  .parts();
    for (LayerParts& layer : layers_.layers) layer.traits.rope = rope;
    const Scope contacts = scope.after_layers() / "contact_head.regression";  // in files, not used
    const std::int64_t maps = config.num_hidden_layers * config.num_attention_heads;
    (void)contacts.make_constant("weight", at::zeros({1, maps}));
    (void)contacts.make_constant("bias", at::zeros({1}));
  }

  /// Returns [rows, hidden].
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    return pooled(compute(layers_, embed(batch, dropout), batch, dropout), batch,
                  layers_.mean_pooling);
  }

  [[nodiscard]] at::Tensor embed(const tensor::Batch& batch, Dropout&) const {
    at::Tensor sum = words_(batch.input_ids);
    if (mask_id_ >= 0) sum = scaled(sum, batch);
    if (positions_) {
      sum = sum.add((*positions_)(positions_after_padding(batch, words_.padding_id)));
    }
    return norm_ ? (*norm_)(sum) : sum;
  }

  [[nodiscard]] const EncoderLayers& layers() const { return layers_; }

 private:
  static constexpr LayerForm form{
      .attention_norm = "attention.LayerNorm", .output_norm = "LayerNorm", .pre_norm = true};

  /// Returns rotary positions by the angles that the checkpoint has.
  static Rope rope_of(const Scope& scope, const EsmConfig& config) {
    Rope rope{.base = config.rope_theta};
    const std::int64_t size = config.hidden_size / config.num_attention_heads;
    const at::Tensor stored =
        (scope / "rotary_embeddings")
            .make_constant("inv_freq", at::tensor(angles(rope, static_cast<std::size_t>(size))))
            .cpu();
    const float* const first = stored.const_data_ptr<float>();
    rope.given.assign(first, first + stored.numel());
    return rope;
  }

  /// Returns embeddings with 0 for mask tokens, scaled so that their size is that in training,
  /// where 12 % of the tokens were masked.
  [[nodiscard]] at::Tensor scaled(const at::Tensor& words, const tensor::Batch& batch) const {
    constexpr double masked_in_training = 0.15 * 0.8;
    const at::Tensor masked = batch.input_ids.eq(mask_id_);
    const at::Tensor seen = masked.sum(-1).to(at::kFloat).div(batch.lengths).neg().add(1);
    return words.masked_fill(masked.unsqueeze(-1), 0)
        .mul(1 - masked_in_training)
        .div(seen.view({-1, 1, 1}));
  }

  WordEmbedding words_;
  std::optional<Embedding> positions_;
  std::optional<LayerNorm> norm_;
  EncoderLayers layers_;
  std::int64_t mask_id_;  ///< -1 without `token_dropout`
};

/// ESM (Rives et al. 2019, Lin et al. 2022): an encoder of proteins, with norms before the parts of
/// a layer and either a table of positions or rotary ones.
struct Esm {
  static constexpr std::string_view model_type = "esm";
  static constexpr std::string_view prefix = "esm";
  static constexpr std::string_view classifier = "EsmForSequenceClassification";
  using Config = EsmConfig;
  using Encoder = EsmEncoder;
  using Head = ClassificationHead<Esm>;

  static constexpr auto read_config = read_esm_config;

  static HeadForm head_form(const Config& config) {
    return {.dense = "classifier.dense",
            .output = "classifier.out_proj",
            .input_dropout = config.hidden_dropout_prob};
  }

  static std::int64_t max_length(const Config& config) {
    return config.rotary ? config.max_position_embeddings : length_after_padding(config);
  }
};

}  // namespace seqtrain::model
