#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>

#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// BERT's input: word, token type and position, where positions count from 0.
class BertEmbeddings {
 public:
  BertEmbeddings(const Scope& scope, const weights::ModelConfig& config)
      : word_{scope / "word_embeddings", config.vocab_size, config.hidden_size,
              config.pad_token_id},
        position_{scope / "position_embeddings", config.max_position_embeddings,
                  config.hidden_size},
        type_{scope / "token_type_embeddings", config.type_vocab_size, config.hidden_size},
        norm_{scope / "LayerNorm", config.hidden_size, config.layer_norm_eps},
        dropout_{config.hidden_dropout_prob} {}

  /// [rows, width, hidden]
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    const at::Tensor& ids = batch.input_ids;
    const at::Tensor positions = at::arange(ids.size(1), ids.options());
    const at::Tensor sum = word_(ids).add(type_(batch.token_type_ids)).add(position_(positions));
    return dropout(norm_(sum), dropout_);
  }

  /// Returns the number of tokens that a row has positions for.
  static std::int64_t max_length(const weights::ModelConfig& config) {
    return config.max_position_embeddings;
  }

 private:
  Embedding word_, position_, type_;
  LayerNorm norm_;
  double dropout_;
};

/// RoBERTa's input: every token has type 0. Positions count the tokens that are not padding, from
/// pad_token_id + 1 on; padding has the position pad_token_id.
class RobertaEmbeddings {
 public:
  RobertaEmbeddings(const Scope& scope, const weights::ModelConfig& config)
      : word_{scope / "word_embeddings", config.vocab_size, config.hidden_size,
              config.pad_token_id},
        type_{scope / "token_type_embeddings", config.type_vocab_size, config.hidden_size},
        norm_{scope / "LayerNorm", config.hidden_size, config.layer_norm_eps},
        position_{scope / "position_embeddings", config.max_position_embeddings, config.hidden_size,
                  config.pad_token_id},
        dropout_{config.hidden_dropout_prob} {}

  /// [rows, width, hidden]
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    const at::Tensor& ids = batch.input_ids;
    const at::Tensor token = ids.ne(word_.padding_id).to(ids.scalar_type());
    const at::Tensor positions =
        token.cumsum(1, ids.scalar_type()).mul(token).add(word_.padding_id);
    const at::Tensor sum = word_(ids).add(type_.weight.select(0, 0)).add(position_(positions));
    return dropout(norm_(sum), dropout_);
  }

  static std::int64_t max_length(const weights::ModelConfig& config) {
    return config.max_position_embeddings - config.pad_token_id - 1;
  }

 private:
  Embedding word_, type_;
  LayerNorm norm_;
  Embedding position_;
  double dropout_;
};

}  // namespace seqtrain::model
