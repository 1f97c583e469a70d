#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/linalg_vector_norm.h>

#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// Returns [rows, hidden]: the mean of each row's tokens, or its first token. Returns all tokens,
/// with 0 for padding, if the batch keeps them.
inline at::Tensor pooled(const at::Tensor& hidden, const tensor::Batch& batch, bool mean) {
  if (!mean && !batch.keeps_tokens) return hidden.select(1, 0);
  const at::Tensor is_token = tensor::attention_mask(batch).view(batch.input_ids.sizes());
  const at::Tensor tokens = hidden.mul(is_token.unsqueeze(-1));
  return batch.keeps_tokens ? tokens : tokens.sum(1).div(batch.lengths.unsqueeze(1));
}

/// Returns [rows, hidden]: the last token of each row that is not the padding token, as
/// transformers counts, or the row's last token if there is no padding token.
inline at::Tensor last_tokens(const at::Tensor& hidden, const tensor::Batch& batch,
                              std::int64_t padding_id) {
  const at::Tensor& ids = batch.input_ids;
  const at::Tensor columns = at::arange(ids.size(1), batch.lengths.options());
  at::Tensor is_token = columns.lt(batch.lengths.unsqueeze(1));
  if (padding_id >= 0) is_token = is_token.logical_and(ids.ne(padding_id));
  const at::Tensor last = columns.mul(is_token).argmax(1);
  const at::Tensor firsts = at::arange(ids.size(0), last.options()).mul(ids.size(1));
  return hidden.flatten(0, 1).index_select(0, firsts.add(last));
}

/// The head of a sentence encoder: perhaps a normalization to length 1, and a linear layer to
/// logits.
struct SentenceHead {
  SentenceHead(const Scope& root, const weights::ModelConfig& config)
      : map{root / "linear", config.hidden_size, config.num_labels()},
        normalizes{config.sentence->normalizes} {}

  /// Returns logits [rows, labels], or embeddings [rows, hidden] if it ends there.
  at::Tensor operator()(const at::Tensor& pooled, Dropout&) const {
    const at::Tensor embedding =
        normalizes ? pooled.div(at::linalg_vector_norm(pooled, 2, 1, true).clamp_min(1e-12))
                   : pooled;
    return ends_at_embeddings ? embedding : map(embedding);
  }

  Linear map;
  bool normalizes;
  bool ends_at_embeddings = false;
};

}  // namespace seqtrain::model
