#pragma once

#include <cstdint>
#include <functional>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/Device.h>

namespace seqtrain::model {

/// The part of attention's scores that depends on the distances of a batch's tokens, or what each
/// layer computes it from.
struct BatchDistances {
  at::Tensor numbers;  ///< the bias [1, heads, width, width], or what a `ScoreBias` reads
  /// int64 [2, 2 width - 1], undefined if `numbers` are the bias: the row of `numbers` for each
  /// column of `by_pairs`, first if its tokens are queries, then if they are keys.
  at::Tensor rows = {};
};

/// Returns the distances of a batch, given its width.
using DistancesOf = std::function<BatchDistances(std::int64_t width)>;

/// Returns what a layer adds to its scores, [rows, heads, width, width], given queries and keys
/// [rows, heads, width, size].
using ScoreBias = std::function<at::Tensor(const at::Tensor& q, const at::Tensor& k,
                                           const BatchDistances& distances)>;

/// Copies indices to a device. The call does not wait for it.
[[nodiscard]] inline at::Tensor sent(const at::Tensor& indices, c10::Device device) {
  const auto options = indices.options().pinned_memory(!device.is_cpu());
  return at::empty(indices.sizes(), options).copy_(indices).to(device, /*non_blocking=*/true);
}

/// Returns a view [rows, heads, width, width] of x [heads, rows · width, 2 width - 1], a new tensor
/// that has a column for each distance: the number of token i and token j is in column
/// j - i + width - 1 of token i. The gradients of the view's numbers are never added up, so their
/// bits do not depend on an order.
[[nodiscard]] inline at::Tensor by_pairs(const at::Tensor& x, std::int64_t rows) {
  const std::int64_t columns = x.size(2), width = (columns + 1) / 2, row = width * columns;
  return x.as_strided({rows, x.size(0), width, width}, {row, rows * row, columns - 1, 1},
                      width - 1);
}

}  // namespace seqtrain::model
