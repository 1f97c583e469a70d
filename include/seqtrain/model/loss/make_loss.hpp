#pragma once

#include <cstdint>

#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/huber_loss.h>
#include <ATen/ops/mse_loss.h>
#include <c10/core/Device.h>

#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/model/loss/cross_entropy.hpp>
#include <seqtrain/model/loss/loss.hpp>
#include <seqtrain/model/loss/options.hpp>
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

/// Returns cross-entropy, binary cross-entropy or the squared error, as the problem type needs,
/// with the options. Throws as `LossOptions::validate` and `LabelWeights` do.
inline AnyLoss make_loss(ProblemType type, std::int64_t num_labels, const LossOptions& options = {},
                         c10::Device device = c10::kCPU) {
  options.validate(type);
  if (type == ProblemType::regression) {
    return options.huber_delta ? AnyLoss{Huber{*options.huber_delta}} : AnyLoss{SquaredError{}};
  }
  const LabelWeights weights{options.class_weights, num_labels, device};
  if (type == ProblemType::multi_label) return BinaryCrossEntropy{weights, options.focal_gamma};
  const CrossEntropy of_label{weights, options.label_smoothing, options.focal_gamma};
  return options.teacher ? AnyLoss{Distillation{of_label, *options.teacher}} : AnyLoss{of_label};
}

}  // namespace seqtrain::model
