#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full_like.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/model/families/bart/config.hpp>
#include <seqtrain/model/families/bart/layers.hpp>
#include <seqtrain/model/families/encoder_layer.hpp>
#include <seqtrain/model/nn/classification_head.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/sentence_head.hpp>
#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::model {

/// Computes a text's state from ids: an encoder reads the text, and a decoder reads it again, one
/// token later. The result is the decoder's state at the text's last end-of-sequence token, or the
/// mean of its states.
class BartEncoder {
 public:
  BartEncoder(const Scope& scope, const BartConfig& config)
      : words_{scope / "shared", config.vocab_size, config.hidden_size, config.pad_token_id},
        encoder_{scope / "encoder",
                 config,
                 {.layers = config.num_hidden_layers,
                  .heads = config.num_attention_heads,
                  .inner = config.intermediate_size}},
        decoder_{scope / "decoder",
                 config,
                 {.layers = config.decoder_layers,
                  .heads = config.decoder_attention_heads,
                  .inner = config.decoder_ffn_dim,
                  .below = config.num_hidden_layers}},
        start_id_{config.start_token_id},
        end_id_{config.end_token_id},
        scale_{config.scales_embeddings ? std::sqrt(static_cast<double>(config.hidden_size)) : 1},
        mean_pooling_{config.mean_pooling} {
    if (!config.sentence || config.mean_pooling) return;
    throw InputError{"the first token of BART's decoder is the same in all texts",
                     {.object = "modules.json"},
                     "use a sentence encoder with the mean of all tokens"};
  }

  /// Returns the id with which each text begins in the decoder.
  [[nodiscard]] std::vector<std::int64_t> fixed_ids() const { return {start_id_}; }

  /// Returns [rows, hidden]. On a processor throws `InputError` if a row has no end-of-sequence
  /// token. Other devices would have to be waited for; they take such a row's last token.
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    const at::Tensor& ids = batch.input_ids;
    const AttentionMask padding = mask_of(batch);
    const at::Tensor encoded = encoder_(words(ids), padding, {}, {}, dropout);
    const at::Tensor earlier = ids.narrow(1, 0, ids.size(1) - 1);
    const at::Tensor shifted = at::cat({at::full_like(ids.narrow(1, 0, 1), start_id_), earlier}, 1);
    const at::Tensor hidden = decoder_(words(shifted), {.causal = true}, encoded, padding, dropout);
    return mean_pooling_ || batch.keeps_tokens ? pooled(hidden, batch, true)
                                               : at_ends(hidden, batch);
  }

 private:
  [[nodiscard]] at::Tensor words(const at::Tensor& ids) const {
    const at::Tensor vectors = words_(ids);
    return scale_ == 1 ? vectors : vectors.mul(scale_);
  }

  /// Returns the states of the rows' last end-of-sequence tokens, [rows, hidden].
  [[nodiscard]] at::Tensor at_ends(const at::Tensor& hidden, const tensor::Batch& batch) const {
    const at::Tensor& ids = batch.input_ids;
    const std::int64_t width = ids.size(1);
    const at::Tensor columns = at::arange(1, width + 1, batch.lengths.options());
    const at::Tensor inside = columns.le(batch.lengths.unsqueeze(1));
    const at::Tensor is_end = ids.eq(end_id_).logical_and(inside);
    if (ids.is_cpu() && !is_end.any(1).all().item<bool>()) {
      throw InputError{"a text has no token " + std::to_string(end_id_) +
                           ", the eos_token_id of config.json, whose state BART's head reads",
                       {.object = "batch", .field = "input_ids"},
                       "use the model's own tokenizer, which ends texts with it"};
    }
    const at::Tensor last = columns.mul(inside).add(is_end, width).argmax(1);
    const at::Tensor firsts = at::arange(ids.size(0), last.options()).mul(width);
    return hidden.flatten(0, 1).index_select(0, firsts.add(last));
  }

  WordEmbedding words_;
  BartStack encoder_, decoder_;
  std::int64_t start_id_, end_id_;
  double scale_;
  bool mean_pooling_;
};

/// BART (Lewis et al. 2020): an encoder and a decoder. Published models of it know natural language
/// inference.
struct Bart {
  static constexpr std::string_view model_type = "bart";
  static constexpr std::string_view prefix = "model";
  static constexpr std::string_view classifier = "BartForSequenceClassification";
  using Config = BartConfig;
  using Encoder = BartEncoder;
  using Head = ClassificationHead<Bart>;

  static constexpr auto read_config = read_bart_config;

  static HeadForm head_form(const Config& config) {
    return {.dense = "classification_head.dense",
            .output = "classification_head.out_proj",
            .input_dropout = config.classifier_dropout_prob()};
  }

  static std::int64_t max_length(const Config& config) { return config.max_position_embeddings; }
};

}  // namespace seqtrain::model
