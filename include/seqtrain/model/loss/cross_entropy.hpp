#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cross_entropy_loss.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/model/loss/focused.hpp>
#include <seqtrain/model/loss/label_weights.hpp>
#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::model {

/// The loss of an example with one label: torch's `cross_entropy` with `weight` and
/// `label_smoothing`. Its mean is divided by the sum of the rows' label weights. A batch with
/// targets has a distribution over the labels in each row, as torch's class probabilities; the
/// weight of a row is then the mean of the label weights under its distribution. With `focal_gamma`
/// it is the focal loss.
class CrossEntropy {
 public:
  /// `label_smoothing` is the fraction of a row's target that is spread evenly over all labels.
  explicit CrossEntropy(LabelWeights weights = {}, double label_smoothing = 0,
                        double focal_gamma = 0)
      : weights_{std::move(weights)}, label_smoothing_{label_smoothing}, focal_gamma_{focal_gamma} {
    Demand{"loss"}(focal_gamma == 0 || label_smoothing == 0, "focal_gamma",
                   "does not go with label_smoothing");
  }

  at::Tensor operator()(const at::Tensor& logits, const tensor::Batch& batch) const {
    constexpr std::int64_t ignore_index = -100;
    const at::Tensor truth = batch.targets.defined() ? batch.targets : batch.labels.to(at::kLong);
    const auto losses = [&](const std::optional<at::Tensor>& weight) {
      return at::cross_entropy_loss(logits, truth, weight, at::Reduction::None, ignore_index,
                                    label_smoothing_);
    };
    if (focal_gamma_ == 0) return losses(weights_.on(logits.device()));
    Demand{"loss"}(!batch.targets.defined(), "focal_gamma", "does not go with soft labels");
    const at::Tensor focal = focused(losses({}), focal_gamma_);
    const at::Tensor weight = weights(batch);
    return weight.defined() ? focal * weight : focal;
  }

  [[nodiscard]] at::Tensor weights(const tensor::Batch& batch) const {
    const auto weights = weights_.on(batch.labels.device());
    if (!weights) return {};
    return batch.targets.defined() ? batch.targets.matmul(*weights)
                                   : weights->index_select(0, batch.labels);
  }

 private:
  LabelWeights weights_;
  double label_smoothing_;
  double focal_gamma_;
};

}  // namespace seqtrain::model
