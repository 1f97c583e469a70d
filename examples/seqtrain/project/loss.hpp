#pragma once

#include <ATen/ops/one_hot.h>

#include <seqtrain/experiment.hpp>

/// The squared distance between the probabilities and the label: Brier's score.
struct Brier {
  /// Returns the loss of each row, [rows], of logits [rows, labels].
  at::Tensor operator()(const at::Tensor& logits, const seqtrain::tensor::Batch& batch) const {
    const at::Tensor label = at::one_hot(batch.labels.to(at::kLong), logits.size(1));
    return (logits.softmax(1) - label).square().sum(1);
  }
};
