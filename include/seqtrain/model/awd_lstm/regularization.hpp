#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>

namespace seqtrain::model {

struct RegularizationOptions {
  double alpha = 2;        ///< factor of the mean square of the hidden states
  double beta = 1;         ///< factor of the mean square of their changes from step to step
  std::int64_t bptt = 72;  ///< words of a chunk
};

/// Adds to `gradient` the gradient of the regularization of Merity et al. 2017, section 4.3, with
/// respect to a classifier's hidden states, both [rows, width, size], for rows of `lengths` [rows]
/// words. As in fastai, whole chunks of padding count as zeros before a row's first word. The rest
/// of the padding counts as words after the last one.
inline void add_regularization_gradient(const at::Tensor& gradient, const at::Tensor& hidden,
                                        const at::Tensor& lengths,
                                        const RegularizationOptions& options) {
  const std::int64_t width = hidden.size(1);
  const at::Tensor own = lengths.to(at::kLong).view({-1, 1, 1});
  const at::Tensor padding = own.neg().add(width);
  const at::Tensor end = own.add(padding.remainder(options.bptt));
  const at::Tensor counted = at::arange(width, end.options()).view({1, -1, 1}).lt(end);
  if (options.alpha != 0) {
    gradient.add_(hidden.mul(counted), 2 * options.alpha / static_cast<double>(hidden.numel()));
  }
  if (options.beta == 0 || width < 2) return;
  const auto changes = static_cast<double>(hidden.size(0) * (width - 1) * hidden.size(2));
  const double factor = 2 * options.beta / changes;
  const at::Tensor change =
      hidden.slice(1, 1).sub(hidden.slice(1, 0, -1)).mul_(counted.slice(1, 1));
  gradient.slice(1, 1).add_(change, factor);
  gradient.slice(1, 0, -1).sub_(change, factor);
  const at::Tensor follows_zeros = padding.ge(options.bptt);
  gradient.slice(1, 0, 1).add_(hidden.slice(1, 0, 1).mul(follows_zeros), factor);
}

}  // namespace seqtrain::model
