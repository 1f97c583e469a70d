#pragma once

#include <cstdint>
#include <limits>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/searchsorted.h>

#include <seqtrain/model/nn/distances.hpp>

namespace seqtrain::model::packed {

/// A packed batch as rows of equal width, in which scores may have a bias. It has one row more than
/// the batch, for the zeros at the end. Padding has the last token, whose gradients are 0.
struct Grid {
  /// `starts` and `positions` are those of a `tensor::Batch`.
  Grid(const at::Tensor& starts, const at::Tensor& positions, std::int64_t width)
      : rows{starts.size(0) - 1} {
    const std::int64_t count = positions.numel();
    const at::Tensor ends = starts.narrow(0, 1, rows);
    const at::Tensor token =
        starts.narrow(0, 0, rows).unsqueeze(1).add(at::arange(width, starts.options()));
    is_padding = token.ge(ends.unsqueeze(1));
    tokens = token.masked_fill(is_padding, count - 1).flatten();
    const at::Tensor row = at::searchsorted(ends, at::arange(count, starts.options()),
                                            /*out_int32=*/true, /*right=*/true);
    cells = positions.flatten().add(row, width);
  }

  /// Returns a bias [rows, heads, width, width] of that type, which leaves out padding.
  [[nodiscard]] at::Tensor masked(const at::Tensor& bias, at::ScalarType type) const {
    return bias.to(type).masked_fill(is_padding.unsqueeze(1).unsqueeze(1),
                                     -std::numeric_limits<double>::infinity());
  }

  std::int64_t rows;
  at::Tensor tokens;      ///< int32 [rows · width]: the token of each cell
  at::Tensor cells;       ///< int32 [tokens]: the cell of each token
  at::Tensor is_padding;  ///< bool [rows, width]
  /// The numbers that all layers share: as autograd knows them, and a copy that collects gradients.
  at::Tensor shared = {};
  BatchDistances distances = {};
};

}  // namespace seqtrain::model::packed
