#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include <ATen/core/Tensor.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>

#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::model {

/// Changes the scores of attention before softmax.
struct AttentionMask {
  /// Tells which keys a query may attend to: bool [rows, 1, 1, width], or nothing for all keys.
  std::optional<at::Tensor> keys = {};
  /// Numbers that are added to scores: [1 or rows, heads, width, width].
  std::optional<at::Tensor> bias = {};
};

/// Returns a mask that leaves out a batch's padding.
[[nodiscard]] inline AttentionMask mask_of(const tensor::Batch& batch) {
  if (!batch.padded) return {};
  return {.keys = tensor::attention_mask(batch)};
}

/// Returns x [rows, width, hidden] as [rows, heads, width, hidden / heads].
[[nodiscard]] inline at::Tensor split_heads(const at::Tensor& x, std::int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

/// Computes softmax(q kᵀ / √size + bias) v with dropout on the probabilities, which are fp32 even
/// under autocast. All tensors are [rows, heads, width, size].
inline at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                         const AttentionMask& mask, double probability, Dropout& dropout) {
  constexpr auto lowest = -std::numeric_limits<float>::infinity();
  const auto masked = [&](const at::Tensor& scores) {
    return mask.keys ? scores.masked_fill(mask.keys->logical_not(), lowest) : scores;
  };
  if (!dropout.active(probability)) {
    const std::optional<at::Tensor> given = mask.bias ? masked(*mask.bias) : mask.keys;
    return at::scaled_dot_product_attention(q, k, v, given);
  }
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  at::Tensor scores = at::matmul(q.mul(scale), k.transpose(-2, -1));
  if (mask.bias) scores = scores.add(*mask.bias);
  return at::matmul(dropout(at::softmax(masked(scores), -1, at::kFloat), probability), v);
}

}  // namespace seqtrain::model
