#pragma once

#include <ATen/core/Tensor.h>

#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// Returns RoBERTa's positions of ids [rows, width]. They count the tokens that are not padding,
/// from padding_id + 1 on; padding has the position padding_id.
[[nodiscard]] inline at::Tensor positions_after_padding(const at::Tensor& ids,
                                                        std::int64_t padding_id) {
  const at::Tensor token = ids.ne(padding_id).to(ids.scalar_type());
  return token.cumsum(1, ids.scalar_type()).mul(token).add(padding_id);
}

/// RoBERTa's input: the sum of word, token type and position embeddings.
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

  /// Returns [rows, width, hidden].
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    const at::Tensor& ids = batch.input_ids;
    const at::Tensor positions = batch.positions.defined()
                                     ? batch.positions.add(word_.padding_id + 1)
                                     : positions_after_padding(ids, word_.padding_id);
    const at::Tensor sum = word_(ids).add(type_(batch.token_type_ids)).add(position_(positions));
    return dropout(norm_(sum), dropout_);
  }

  [[nodiscard]] cpu::Embeddings cpu_part() const {
    return {.word = cpu::table(word_),
            .position = cpu::table(position_),
            .type = cpu::table(type_),
            .norm = cpu::norm(norm_),
            .positions_after_padding = true};
  }

 private:
  Embedding word_;
  TypeEmbedding type_;
  LayerNorm norm_;
  Embedding position_;
  double dropout_;
};

}  // namespace seqtrain::model
