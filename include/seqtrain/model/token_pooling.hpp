#pragma once

#include <limits>

#include <ATen/core/Tensor.h>

/// Poolings for a head or a loss that takes the states of all tokens, which `Pooling::none` gives:
/// [rows, width, hidden], with 0 for padding.
namespace seqtrain::model {

/// Tells which places have a token, [rows, width, 1]. A place without one has no state but 0.
[[nodiscard]] inline at::Tensor has_token(const at::Tensor& tokens) {
  return tokens.ne(0).any(2, true);
}

/// Returns the mean of each row's tokens, [rows, hidden].
[[nodiscard]] inline at::Tensor mean_of_tokens(const at::Tensor& tokens) {
  return tokens.sum(1).div(has_token(tokens).sum(1));
}

/// Returns the greatest of each row's tokens in each dimension, [rows, hidden].
[[nodiscard]] inline at::Tensor max_of_tokens(const at::Tensor& tokens) {
  return tokens
      .masked_fill(has_token(tokens).logical_not(), -std::numeric_limits<double>::infinity())
      .amax(1);
}

}  // namespace seqtrain::model
