#pragma once

#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/huber_loss.h>
#include <ATen/ops/mse_loss.h>

#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::model {

/// The loss of regression: torch's `mse_loss`.
struct SquaredError {
  at::Tensor operator()(const at::Tensor& logits, const tensor::Batch& batch) const {
    return at::mse_loss(logits, batch.targets, at::Reduction::None).mean(1);
  }
};

/// Torch's `huber_loss`: half the square of an error up to `delta`, and beyond it linear, so that
/// single targets far away count less.
struct Huber {
  double delta = 1;

  at::Tensor operator()(const at::Tensor& logits, const tensor::Batch& batch) const {
    return at::huber_loss(logits, batch.targets, at::Reduction::None, delta).mean(1);
  }
};

}  // namespace seqtrain::model
