#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_efficient_attention_backward.h>
#include <ATen/ops/_efficient_attention_forward.h>
#include <ATen/ops/_flash_attention_backward.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/native_dropout.h>
#include <ATen/ops/stack.h>

#include <seqtrain/model/nn/distances.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/rotary.hpp>
#include <seqtrain/model/packed/grid.hpp>
#include <seqtrain/model/packed/seeded_dropout.hpp>

namespace seqtrain::model::packed {

/// The rows of a packed batch: their tokens follow one another without padding.
struct Rows {
  at::Tensor starts;     ///< as in `tensor::Batch`
  at::Tensor positions;  ///< int32 [tokens, 1, 1]
  /// The largest number of tokens of a row, rounded up to a multiple of `packed_tokens_multiple`.
  std::int64_t longest;
  bool windowed;                  ///< a row is longer than the window of a layer
  std::int64_t width;             ///< of a bias: the longest row, rounded up to a multiple of 16
  mutable at::Tensor first = {};  ///< what `first_tokens` made
  /// The angles of rotary positions by their base, which the first layer of a pass makes.
  mutable std::map<double, Rotary> rotary = {};
  mutable std::optional<Grid> grid = {};  ///< for layers whose scores have a bias
  mutable DropoutMasks masks = {};        ///< of dropout by kernels of our own

  /// Returns each row's first token, int64 [rows].
  [[nodiscard]] const at::Tensor& first_tokens() const {
    if (!first.defined()) first = starts.narrow(0, 0, starts.size(0) - 2).to(at::kLong);
    return first;
  }
};

/// Attention of packed rows, and its numbers of one forward pass. Rows that are longer than a
/// window have FlashAttention (Dao 2024), which only computes in fp16 and bf16; others have
/// attention by Rabe and Staats (2021), which takes a bias only in rows of equal width. Autograd
/// computes the bias.
class Attention {
 public:
  Attention(const LayerParts& parts, const DropoutRates& rates)
      : traits_{parts.traits},
        own_bias_{parts.bias},
        dropout_{rates.attention},
        distance_dropout_{rates.distances} {}

  /// Returns the result [tokens, hidden] of q, k and v [tokens, 3 hidden], which it changes.
  at::Tensor forward(at::Tensor qkv, const Rows& rows, bool training) {
    const std::int64_t hidden = qkv.size(1) / 3;
    rotate(qkv, rows, 1);
    if (rows.grid) qkv = qkv.index_select(0, rows.grid->tokens);
    const auto parts = by_head(qkv).unbind(1);
    const at::Tensor &q = parts[0], &k = parts[1], &v = parts[2];
    const double dropout = training ? dropout_ : 0;
    if (const auto window = window_for(rows)) {
      std::tie(context_, logsumexp_, seed_, offset_, std::ignore) = at::_flash_attention_forward(
          q, k, v, rows.starts, rows.starts, rows.longest, rows.longest, dropout,
          /*is_causal=*/false, /*return_debug_mask=*/false, std::optional<double>{}, window,
          window);
    } else {
      if (rows.grid) bias_ = bias(q, k, rows, training);
      const auto starts = starts_of(rows);
      std::tie(context_, logsumexp_, seed_, offset_, std::ignore, std::ignore) =
          at::_efficient_attention_forward(by_row(q, rows), by_row(k, rows), by_row(v, rows),
                                           detail::if_defined(bias_), starts, starts, rows.longest,
                                           rows.longest, dropout, /*custom_mask_type=*/0,
                                           /*compute_log_sumexp=*/training, scale(q));
    }
    qkv_ = std::move(qkv);
    const at::Tensor context = context_.view({-1, hidden});
    return rows.grid ? context.index_select(0, rows.grid->cells) : context;
  }

  /// Returns the gradient of q, k and v side by side. One split of the keys gives equal bits; with
  /// a window, the order of FlashAttention's sums is fixed only if operators are deterministic.
  at::Tensor backward(const at::Tensor& d_context, const Rows& rows) {
    const at::Tensor qkv = std::exchange(qkv_, {});
    const at::Tensor context = std::exchange(context_, {});
    const at::Tensor d = (rows.grid ? d_context.index_select(0, rows.grid->tokens) : d_context)
                             .view(context.sizes());
    const auto parts = by_head(qkv).unbind(1);
    const at::Tensor &q = parts[0], &k = parts[1], &v = parts[2];
    at::Tensor d_qkv;
    if (const auto window = window_for(rows)) {
      const auto [d_q, d_k, d_v] = at::_flash_attention_backward(
          d, q, k, v, context, logsumexp_, rows.starts, rows.starts, rows.longest, rows.longest,
          dropout_, /*is_causal=*/false, seed_, offset_, /*scale=*/{}, window, window);
      d_qkv = at::stack({d_q, d_k, d_v}, 1).view(qkv.sizes());
    } else {
      const bool has_gradient = bias_.defined() && bias_.requires_grad();
      const auto starts = starts_of(rows);
      const auto gradients = at::_efficient_attention_backward(
          d, by_row(q, rows), by_row(k, rows), by_row(v, rows), detail::if_defined(bias_), context,
          starts, starts, rows.longest, rows.longest, logsumexp_, dropout_, seed_, offset_,
          /*custom_mask_type=*/0, has_gradient, scale(q), /*num_splits_key=*/1,
          /*window_size=*/{}, /*shared_storage_dqdkdv=*/true);
      // The three gradients are parts of one tensor, as q, k and v are.
      d_qkv = std::get<0>(gradients).as_strided(qkv.sizes(), qkv.strides());
      if (has_gradient) bias_backward(std::get<3>(gradients), d_qkv);
      if (rows.grid) d_qkv = d_qkv.index_select(0, rows.grid->cells);
    }
    rotate(d_qkv, rows, -1);
    return d_qkv;
  }

  /// Frees the saved activations.
  void forget() { qkv_ = context_ = logsumexp_ = seed_ = offset_ = bias_ = q_ = k_ = at::Tensor{}; }

 private:
  /// Returns q, k and v [tokens, 3 hidden] as [tokens, 3, heads, hidden / heads].
  [[nodiscard]] at::Tensor by_head(const at::Tensor& qkv) const {
    const auto heads = static_cast<std::int64_t>(traits_.heads);
    return qkv.view({qkv.size(0), 3, heads, qkv.size(1) / 3 / heads});
  }

  /// Returns x [tokens, heads, size] as one row that has all rows in it, or as rows of equal width.
  static at::Tensor by_row(const at::Tensor& x, const Rows& rows) {
    return x.unflatten(0, {rows.grid ? rows.grid->rows : 1, -1});
  }

  static std::optional<at::Tensor> starts_of(const Rows& rows) {
    return rows.grid ? std::nullopt : std::optional{rows.starts};
  }

  /// Returns the factor of scores.
  [[nodiscard]] double scale(const at::Tensor& q) const {
    return 1 /
           std::sqrt(static_cast<double>(q.size(-1)) * static_cast<double>(traits_.score_parts));
  }

  /// Returns the layer's own bias of the scores, or the one that layers share.
  [[nodiscard]] at::Tensor bias(const at::Tensor& q, const at::Tensor& k, const Rows& rows,
                                bool training) {
    BatchDistances distances = rows.grid->distances;
    if (!own_bias_) return distances.numbers;
    const at::AutoGradMode enabled{training};
    q_ = q.detach().set_requires_grad(training);
    k_ = k.detach().set_requires_grad(training);
    if (training && distance_dropout_ > 0) {
      distances.numbers =
          std::get<0>(at::native_dropout(distances.numbers, distance_dropout_, true));
    }
    return rows.grid->masked(
        own_bias_(by_row(q_, rows).transpose(1, 2), by_row(k_, rows).transpose(1, 2), distances),
        q.scalar_type());
  }

  /// Adds the gradients of all that the bias was computed from.
  void bias_backward(const at::Tensor& d_bias, const at::Tensor& d_qkv) {
    std::exchange(bias_, {}).backward(d_bias);
    const auto parts = by_head(d_qkv).unbind(1);
    if (q_.defined() && q_.grad().defined()) parts[0].add_(q_.grad());
    if (k_.defined() && k_.grad().defined()) parts[1].add_(k_.grad());
    q_ = k_ = at::Tensor{};
  }

  /// Returns the distance of the farthest key of a query, if the layer has a window and it matters.
  [[nodiscard]] std::optional<std::int64_t> window_for(const Rows& rows) const {
    if (!rows.windowed || traits_.sliding_window == LayerTraits{}.sliding_window) return {};
    return static_cast<std::int64_t>(traits_.sliding_window);
  }

  /// Rotates q and k in place, if the layer has rotary positions.
  void rotate(const at::Tensor& qkv, const Rows& rows, double direction) const {
    const double base = traits_.rope.base;
    if (base == 0) return;
    const at::Tensor both = by_head(qkv).narrow(1, 0, 2);
    const auto found = rows.rotary.try_emplace(base, rows.positions, both.size(3), base).first;
    both.copy_(found->second(both, direction));
  }

  LayerTraits traits_;
  ScoreBias own_bias_;
  double dropout_, distance_dropout_;
  at::Tensor qkv_, context_, logsumexp_, seed_, offset_, bias_;
  at::Tensor q_, k_;  ///< the queries and keys that the bias was computed from
};

}  // namespace seqtrain::model::packed
