#pragma once

#include <ATen/core/Tensor.h>

#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// BERT's input: the sum of word, token type and position embeddings. Positions count from 0.
class BertEmbeddings {
 public:
  BertEmbeddings(const Scope& scope, const weights::ModelConfig& config)
      : BertEmbeddings{scope, config, config.hidden_size} {}

  /// Makes embeddings of `size` numbers, which may differ from the size of the hidden states.
  BertEmbeddings(const Scope& scope, const weights::ModelConfig& config, std::int64_t size)
      : word_{scope / "word_embeddings", config.vocab_size, size, config.pad_token_id},
        position_{scope / "position_embeddings", config.max_position_embeddings, size},
        type_{scope / "token_type_embeddings", config.type_vocab_size, size},
        norm_{scope / "LayerNorm", size, config.layer_norm_eps},
        dropout_{config.hidden_dropout_prob} {}

  /// Returns [rows, width, size].
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    const at::Tensor& ids = batch.input_ids;
    const at::Tensor sum =
        word_(ids).add(type_(batch.token_type_ids)).add(position_(tensor::positions(batch)));
    return dropout(norm_(sum), dropout_);
  }

  [[nodiscard]] cpu::Embeddings cpu_part() const {
    return {.word = cpu::table(word_),
            .position = cpu::table(position_),
            .type = cpu::table(type_),
            .norm = cpu::norm(norm_),
            .positions_after_padding = false};
  }

 private:
  Embedding word_, position_;
  TypeEmbedding type_;
  LayerNorm norm_;
  double dropout_;
};

}  // namespace seqtrain::model
