#pragma once

#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/expm1.h>
#include <ATen/ops/kl_div.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <c10/core/Device.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/model/loss/options.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/tensor/operators.hpp>

namespace seqtrain::model {

/// One weight for each label, on the host and on a model's device.
class LabelWeights {
 public:
  /// All labels count the same.
  LabelWeights() = default;

  /// An empty list means that all labels count the same. Throws `InputError` if the number of
  /// weights is not `num_labels` or a weight is not above 0.
  LabelWeights(const std::vector<double>& weights, std::int64_t num_labels, c10::Device device) {
    if (weights.empty()) return;
    const Demand demand{"loss"};
    demand(
        std::ssize(weights) == num_labels, "class_weights",
        std::to_string(weights.size()) + " weights for " + std::to_string(num_labels) + " labels");
    for (const double weight : weights) {
      demand(weight > 0 && std::isfinite(weight), "class_weights", "must be numbers above 0");
    }
    host_ = at::tensor(weights, at::kFloat);
    device_ = host_->to(device);
  }

  /// Returns the weights [labels], fp32, or nothing if all labels count the same.
  [[nodiscard]] std::optional<at::Tensor> on(c10::Device device) const {
    return device.is_cpu() ? host_ : device_;
  }

 private:
  std::optional<at::Tensor> host_;
  std::optional<at::Tensor> device_;
};

/// Returns (1 - p)^gamma times each cross-entropy -log(p), the focal loss of Lin et al. 2017,
/// "Focal loss for dense object detection": answers that are right already count less.
inline at::Tensor focused(const at::Tensor& cross_entropies, double gamma) {
  // At 0 the derivative of a power below 1 is infinite.
  const at::Tensor wrong = at::expm1(-cross_entropies).neg().clamp_min(1e-12);
  return wrong.pow(gamma) * cross_entropies;
}

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

/// The loss of distillation (Hinton et al. 2015): share · T² · KL(teacher ‖ model) + (1 - share) ·
/// the loss of the label, where T is the temperature of both distributions. A batch's targets are
/// the teacher's logits. A row without a label has the share 1. The weight of a row is that of its
/// label, or 1. A batch without targets, as in an evaluation, has the loss of its labels.
class Distillation {
 public:
  Distillation(CrossEntropy of_label, const TeacherOptions& options)
      : of_label_{std::move(of_label)}, options_{options} {}

  at::Tensor operator()(const at::Tensor& logits, const tensor::Batch& batch) const {
    if (!batch.targets.defined()) return of_label_(logits, batch);
    const auto at_temperature = [&](const at::Tensor& x) {
      return at::log_softmax(x / options_.temperature, 1);
    };
    const at::Tensor each = at::kl_div(at_temperature(logits), at_temperature(batch.targets),
                                       at::Reduction::None, /*log_target=*/true);
    at::Tensor soft = each.sum(1) * (options_.temperature * options_.temperature);
    if (const at::Tensor weight = weights(batch); weight.defined()) soft = soft * weight;
    const at::Tensor hard = of_label_(logits, labels_of(batch));
    return at::where(batch.labels.ge(0), options_.share * soft + (1 - options_.share) * hard, soft);
  }

  [[nodiscard]] at::Tensor weights(const tensor::Batch& batch) const {
    const at::Tensor of_label = of_label_.weights(labels_of(batch));
    return of_label.defined() ? at::where(batch.labels.ge(0), of_label, 1.0) : of_label;
  }

 private:
  /// Returns a batch with only the labels, and 0 for a row without one.
  static tensor::Batch labels_of(const tensor::Batch& batch) {
    tensor::Batch labels;
    labels.labels = batch.labels.clamp_min(0);
    return labels;
  }

  CrossEntropy of_label_;
  TeacherOptions options_;
};

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
