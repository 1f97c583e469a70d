#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>

#include <seqtrain/model/families/encoder_layer.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::model {

/// Queries, keys and values, [rows, heads, width, size].
using QueriesKeysValues = std::array<at::Tensor, 3>;

namespace detail {

/// Returns x[begin, end) along the width, after x[0] if that is not among them.
inline at::Tensor with_first(const at::Tensor& x, std::int64_t begin, std::int64_t end) {
  const at::Tensor near = x.narrow(2, begin, end - begin);
  return begin == 0 ? near : at::cat({x.narrow(2, 0, 1), near}, 2);
}

/// Attends of the queries [begin, end) to the keys that `reach` them and to the first one.
inline at::Tensor attend_near(const QueriesKeysValues& qkv, std::int64_t begin, std::int64_t end,
                              std::int64_t reach, const std::optional<at::Tensor>& is_token,
                              double probability, Dropout& dropout) {
  const std::int64_t width = qkv[0].size(2);
  const std::int64_t from = std::max<std::int64_t>(0, begin - reach);
  const std::int64_t to = std::min(width, end + reach);
  const auto options = qkv[0].options().dtype(at::kLong);
  at::Tensor keys = at::arange(from, to, options);
  if (from > 0) keys = at::cat({at::arange(0, 1, options), keys});
  const at::Tensor queries = at::arange(begin, end, options).unsqueeze(1);
  at::Tensor seen = keys.sub(queries).abs().le(reach).logical_or(keys.eq(0));
  if (is_token) seen = seen.logical_and(is_token->index_select(-1, keys));
  return attend(qkv[0].narrow(2, begin, end - begin), with_first(qkv[1], from, to),
                with_first(qkv[2], from, to), {.keys = seen}, probability, dropout);
}

}  // namespace detail

/// Computes attention in which each token attends to those at a distance of at most `reach` and to
/// the first one, by `qkv`, and the first token to all, by `first` with its query alone. Works on
/// blocks of queries, so that its memory grows with the width and not with its square.
[[nodiscard]] inline at::Tensor windowed_attention(const QueriesKeysValues& qkv,
                                                   const QueriesKeysValues& first,
                                                   const tensor::Batch& batch, std::int64_t reach,
                                                   double probability, Dropout& dropout) {
  const std::int64_t width = qkv[0].size(2);
  const AttentionMask all = mask_of(batch);
  std::vector<at::Tensor> parts{attend(first[0], first[1], first[2], all, probability, dropout)};
  const bool all_near = width - 1 <= reach;
  const std::int64_t block = std::max<std::int64_t>(reach, 64);
  for (std::int64_t begin = 1; begin < width && !all_near; begin += block) {
    const std::int64_t end = std::min(width, begin + block);
    parts.push_back(detail::attend_near(qkv, begin, end, reach, all.keys, probability, dropout));
  }
  if (all_near && width > 1) {
    parts.push_back(
        attend(qkv[0].narrow(2, 1, width - 1), qkv[1], qkv[2], all, probability, dropout));
  }
  return at::cat(parts, 2);
}

}  // namespace seqtrain::model
