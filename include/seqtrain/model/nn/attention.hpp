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
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// The keys that a query may attend to: bool [rows, 1, 1, width], or nothing for all keys.
using AttentionMask = std::optional<at::Tensor>;

/// Computes softmax(q kᵀ / √size) v with dropout on the probabilities, which are fp32 also under
/// autocast. All tensors are [rows, heads, width, size].
inline at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                         const AttentionMask& mask, double probability, Dropout& dropout) {
  if (!dropout.active(probability)) return at::scaled_dot_product_attention(q, k, v, mask);
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  at::Tensor scores = at::matmul(q.mul(scale), k.transpose(-2, -1));
  constexpr auto lowest = -std::numeric_limits<float>::infinity();
  if (mask) scores = scores.masked_fill(mask->logical_not(), lowest);
  return at::matmul(dropout(at::softmax(scores, -1, at::kFloat), probability), v);
}

/// Self-attention with several heads (Vaswani et al. 2017): every token attends to every token of
/// its row.
class SelfAttention {
 public:
  SelfAttention(const Scope& scope, const weights::ModelConfig& config)
      : query_{scope / "query", config.hidden_size, config.hidden_size},
        key_{scope / "key", config.hidden_size, config.hidden_size},
        value_{scope / "value", config.hidden_size, config.hidden_size},
        heads_{config.num_attention_heads},
        dropout_{config.attention_probs_dropout_prob} {}

  /// [rows, width, hidden] → the same
  at::Tensor operator()(const at::Tensor& x, const AttentionMask& mask, Dropout& dropout) const {
    const at::Tensor context = attend(split_heads(query_(x)), split_heads(key_(x)),
                                      split_heads(value_(x)), mask, dropout_, dropout);
    return context.transpose(1, 2).reshape(x.sizes());
  }

 private:
  /// [rows, width, hidden] → [rows, heads, width, hidden / heads]
  [[nodiscard]] at::Tensor split_heads(const at::Tensor& x) const {
    return x.view({x.size(0), x.size(1), heads_, x.size(2) / heads_}).transpose(1, 2);
  }

  Linear query_, key_, value_;
  std::int64_t heads_;
  double dropout_;
};

}  // namespace seqtrain::model
