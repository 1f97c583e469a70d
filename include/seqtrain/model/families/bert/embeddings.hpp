#pragma once

#include <cstdint>
#include <optional>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// The first token's position.
enum class Positions {
  from_zero,
  after_padding,  ///< pad_token_id + 1; only tokens that are not padding count (RoBERTa)
};

/// The rules in which embeddings differ.
struct EmbeddingForm {
  bool norm = true;                      ///< a layer normalization of the sum
  bool positions = true;                 ///< a table of positions
  std::optional<Scope> norm_scope = {};  ///< `LayerNorm` of the embeddings' place, if empty
  std::int64_t task_types = 0;  ///< rows of a table of tasks, of which all tokens have the first
};

/// Returns positions that count from padding_id + 1 on and leave padding out, shaped as the ids.
[[nodiscard]] inline at::Tensor positions_after_padding(const tensor::Batch& batch,
                                                        std::int64_t padding_id) {
  if (batch.positions.defined()) return batch.positions.add(padding_id + 1);
  const at::Tensor& ids = batch.input_ids;
  const at::Tensor token = ids.ne(padding_id).to(ids.scalar_type());
  return token.cumsum(1, ids.scalar_type()).mul(token).add(padding_id);
}

/// BERT's input: the sum of word embeddings, and of embeddings of positions and token types if the
/// family has them.
class BertEmbeddings {
 public:
  /// Makes embeddings of `size` numbers, which may differ from the size of the hidden states.
  BertEmbeddings(const Scope& scope, const weights::ModelConfig& config, std::int64_t size,
                 Positions positions = Positions::from_zero, const EmbeddingForm& form = {})
      : word_{scope / "word_embeddings", config.vocab_size, size, config.pad_token_id},
        after_padding_{positions == Positions::after_padding},
        dropout_{config.hidden_dropout_prob} {
    const bool has_types = config.type_vocab_size > 0;
    const auto make_position = [&] {
      if (!form.positions) return;
      position_.emplace(scope / "position_embeddings", config.max_position_embeddings, size,
                        after_padding_ ? config.pad_token_id : -1);
    };
    const bool position_is_last = after_padding_ && has_types;  // in RoBERTa's state_dict
    if (!position_is_last) make_position();
    if (has_types) type_.emplace(scope / "token_type_embeddings", config.type_vocab_size, size);
    if (form.task_types > 0) task_.emplace(scope / "task_type_embeddings", form.task_types, size);
    if (form.norm) {
      norm_.emplace(form.norm_scope.value_or(scope / "LayerNorm"), size, config.layer_norm_eps);
    }
    if (position_is_last) make_position();
  }

  /// Returns [rows, width, size].
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    at::Tensor sum = word_(batch.input_ids);
    if (type_) sum = sum.add((*type_)(batch.token_type_ids));
    if (position_) sum = sum.add((*position_)(positions(batch)));
    if (task_) sum = sum.add(task_->weight.select(0, 0));
    return dropout(norm_ ? (*norm_)(sum) : sum, dropout_);
  }

  /// Tells whether the hand-written backend computes them.
  [[nodiscard]] bool has_cpu_part() const { return !task_; }

  [[nodiscard]] cpu::Embeddings cpu_part() const {
    return {.word = cpu::table(word_),
            .position = position_ ? cpu::table(*position_) : cpu::Table{},
            .type = type_ ? cpu::table(*type_) : cpu::Table{},
            .norm = cpu::norm(norm_),
            .positions_after_padding = after_padding_};
  }

 private:
  [[nodiscard]] at::Tensor positions(const tensor::Batch& batch) const {
    return after_padding_ ? positions_after_padding(batch, word_.padding_id)
                          : tensor::positions(batch);
  }

  WordEmbedding word_;
  std::optional<Embedding> position_;
  std::optional<TypeEmbedding> type_;
  std::optional<Embedding> task_;
  std::optional<LayerNorm> norm_;
  bool after_padding_;
  double dropout_;
};

}  // namespace seqtrain::model
