#pragma once

#include <optional>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>

#include <seqtrain/model/loss/focused.hpp>
#include <seqtrain/model/loss/label_weights.hpp>
#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::model {

/// The loss of multi-label classification: the mean over the labels of torch's
/// `binary_cross_entropy_with_logits`, whose `pos_weight` are the weights. With `focal_gamma` it is
/// the focal loss.
class BinaryCrossEntropy {
 public:
  explicit BinaryCrossEntropy(LabelWeights weights = {}, double focal_gamma = 0)
      : weights_{std::move(weights)}, focal_gamma_{focal_gamma} {}

  at::Tensor operator()(const at::Tensor& logits, const tensor::Batch& batch) const {
    const auto pos_weight = weights_.on(logits.device());
    const auto losses = [&](const std::optional<at::Tensor>& weight) {
      return at::binary_cross_entropy_with_logits(logits, batch.targets, {}, weight,
                                                  at::Reduction::None);
    };
    if (focal_gamma_ == 0) return losses(pos_weight).mean(1);
    const at::Tensor focal = focused(losses({}), focal_gamma_);
    if (!pos_weight) return focal.mean(1);
    return (focal * (1 + batch.targets * (*pos_weight - 1))).mean(1);
  }

 private:
  LabelWeights weights_;
  double focal_gamma_;
};

}  // namespace seqtrain::model
