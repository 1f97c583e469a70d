#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>

#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/cpu/embeddings.hpp>
#include <seqtrain/model/families/deberta_v2/config.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
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
    if (position_) sum = sum.add((*position_)(at::arange(ids.size(1), ids.options())));
    if (type_) sum = sum.add((*type_)(batch.token_type_ids));
    if (projection_) sum = (*projection_)(sum);
    sum = norm_(sum);
    if (batch.padded) sum = sum.mul(tensor::attention_mask(batch).view(ids.sizes()).unsqueeze(-1));
    return dropout(sum, dropout_);
  }

  /// Returns the embeddings for the hand-written passes, which do not project them.
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

  Embedding word_;
  std::optional<Embedding> position_;
  std::optional<TypeEmbedding> type_;
  std::optional<Linear> projection_;
  LayerNorm norm_;
  double dropout_;
};

}  // namespace seqtrain::model
