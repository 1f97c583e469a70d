#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <ATen/core/Tensor.h>
#include <ATen/ops/_efficient_attention_backward.h>
#include <ATen/ops/_efficient_attention_forward.h>
#include <ATen/ops/_flash_attention_backward.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/stack.h>

#include <seqtrain/model/nn/layers.hpp>

namespace seqtrain::model::packed {

/// The rows of a packed batch: their tokens follow one another without padding.
struct Rows {
  at::Tensor starts;     ///< as in `tensor::Batch`
  at::Tensor first;      ///< int64 [rows]: each row's first token
  at::Tensor positions;  ///< int32 [tokens, 1, 1]
  std::int64_t longest;  ///< the largest number of tokens of a row
  /// The angles of rotary positions by their base, which the first layer of a pass makes.
  mutable std::map<double, Rotary> rotary = {};
};

/// Attention of packed rows, and its numbers of one forward pass. Rows that are longer than a
/// window have FlashAttention (Dao 2024), which only computes in fp16 and bf16; others have
/// attention by Rabe and Staats (2021).
class Attention {
 public:
  Attention(const LayerTraits& traits, double dropout) : traits_{traits}, dropout_{dropout} {}

  /// Returns the result [tokens, hidden] of q, k and v [tokens, 3 hidden], which it changes.
  at::Tensor forward(at::Tensor qkv, const Rows& rows, bool training) {
    const std::int64_t tokens = qkv.size(0), hidden = qkv.size(1) / 3;
    turn(qkv, rows, 1);
    const auto parts = by_head(qkv).unbind(1);
    const at::Tensor &q = parts[0], &k = parts[1], &v = parts[2];
    const double dropout = training ? dropout_ : 0;
    if (const auto window = window_for(rows)) {
      std::tie(context_, logsumexp_, seed_, offset_, std::ignore) = at::_flash_attention_forward(
          q, k, v, rows.starts, rows.starts, rows.longest, rows.longest, dropout,
          /*is_causal=*/false, /*return_debug_mask=*/false, std::optional<double>{}, window,
          window);
    } else {
      std::tie(context_, logsumexp_, seed_, offset_, std::ignore, std::ignore) =
          at::_efficient_attention_forward(q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0),
                                           /*bias=*/{}, rows.starts, rows.starts, rows.longest,
                                           rows.longest, dropout, /*custom_mask_type=*/0,
                                           /*compute_log_sumexp=*/training);
    }
    qkv_ = std::move(qkv);
    return context_.view({tokens, hidden});
  }

  /// Returns the gradient of q, k and v side by side. One split of the keys gives equal bits; with
  /// a window, the order of FlashAttention's sums is fixed only if operators are deterministic.
  at::Tensor backward(const at::Tensor& d_context, const Rows& rows) {
    const at::Tensor qkv = std::exchange(qkv_, {});
    const at::Tensor context = std::exchange(context_, {});
    const at::Tensor d = d_context.view(context.sizes());
    const auto parts = by_head(qkv).unbind(1);
    const at::Tensor &q = parts[0], &k = parts[1], &v = parts[2];
    at::Tensor d_qkv;
    if (const auto window = window_for(rows)) {
      const auto [d_q, d_k, d_v] = at::_flash_attention_backward(
          d, q, k, v, context, logsumexp_, rows.starts, rows.starts, rows.longest, rows.longest,
          dropout_, /*is_causal=*/false, seed_, offset_, /*scale=*/{}, window, window);
      d_qkv = at::stack({d_q, d_k, d_v}, 1).view(qkv.sizes());
    } else {
      const auto gradients = at::_efficient_attention_backward(
          d, q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0), /*bias=*/{}, context, rows.starts,
          rows.starts, rows.longest, rows.longest, logsumexp_, dropout_, seed_, offset_,
          /*custom_mask_type=*/0, /*bias_requires_grad=*/false, /*scale=*/{},
          /*num_splits_key=*/1, /*window_size=*/{}, /*shared_storage_dqdkdv=*/true);
      // The three gradients are parts of one tensor, as q, k and v are.
      d_qkv = std::get<0>(gradients).as_strided(qkv.sizes(), qkv.strides());
    }
    turn(d_qkv, rows, -1);
    return d_qkv;
  }

  /// Lets go of what `forward` kept.
  void forget() { qkv_ = context_ = logsumexp_ = seed_ = offset_ = at::Tensor{}; }

 private:
  /// Returns q, k and v [tokens, 3 hidden] as [tokens, 3, heads, hidden / heads].
  [[nodiscard]] at::Tensor by_head(const at::Tensor& qkv) const {
    const auto heads = static_cast<std::int64_t>(traits_.heads);
    return qkv.view({qkv.size(0), 3, heads, qkv.size(1) / 3 / heads});
  }

  /// Returns the distance of the farthest key of a query, if rows are longer.
  [[nodiscard]] std::optional<std::int64_t> window_for(const Rows& rows) const {
    if (static_cast<std::size_t>(rows.longest - 1) <= traits_.reach) return {};
    return static_cast<std::int64_t>(traits_.reach);
  }

  /// Turns q and k in place, if the layer has rotary positions.
  void turn(const at::Tensor& qkv, const Rows& rows, double direction) const {
    const double base = traits_.rotary_base;
    if (base == 0) return;
    const at::Tensor both = by_head(qkv).narrow(1, 0, 2);
    const auto found = rows.rotary.try_emplace(base, rows.positions, both.size(3), base).first;
    both.copy_(found->second(both, direction));
  }

  LayerTraits traits_;
  double dropout_;
  at::Tensor qkv_, context_, logsumexp_, seed_, offset_;
};

}  // namespace seqtrain::model::packed
