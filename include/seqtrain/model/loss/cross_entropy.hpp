#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cross_entropy_loss.h>

#include <seqtrain/model/loss/focused.hpp>
#include <seqtrain/model/loss/label_weights.hpp>
#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::model {

/// The loss of an example with one label: torch's `cross_entropy` with `weight` and
/// `label_smoothing`. Its mean is divided by the sum of the rows' label weights. A batch with
/// targets has a distribution over the labels in each row, as torch's class probabilities; then
/// weights count in a row's loss only. With `focal_gamma` it is the focal loss.
class CrossEntropy {
 public:
  /// `label_smoothing` is the fraction of a row's target that is spread evenly over all labels.
  explicit CrossEntropy(LabelWeights weights = {}, double label_smoothing = 0,
                        double focal_gamma = 0)
      : weights_{std::move(weights)},
        label_smoothing_{label_smoothing},
        focal_gamma_{focal_gamma} {}

  at::Tensor operator()(const at::Tensor& logits, const tensor::Batch& batch) const {
    constexpr std::int64_t ignore_index = -100;
    const at::Tensor truth = batch.targets.defined() ? batch.targets : batch.labels.to(at::kLong);
    const auto losses = [&](const std::optional<at::Tensor>& weight) {
      return at::cross_entropy_loss(logits, truth, weight, at::Reduction::None, ignore_index,
                                    label_smoothing_);
    };
    if (focal_gamma_ == 0) return losses(weights_.on(logits.device()));
    const at::Tensor focal = focused(losses({}), focal_gamma_);
    const at::Tensor weight = weights(batch);
    return weight.defined() ? focal * weight : focal;
  }

  [[nodiscard]] at::Tensor weights(const tensor::Batch& batch) const {
    const auto weights = weights_.on(batch.labels.device());
    if (!weights || batch.targets.defined()) return {};
    return weights->index_select(0, batch.labels);
  }

 private:
  LabelWeights weights_;
  double label_smoothing_;
  double focal_gamma_;
};

}  // namespace seqtrain::model
