#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/huber_loss.h>
#include <ATen/ops/mse_loss.h>
#include <c10/core/Device.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/model/loss/cross_entropy.hpp>
#include <seqtrain/model/loss/loss.hpp>
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

/// The loss of a problem type. Without options it is the one of transformers.
struct LossOptions {
  /// A weight for each label: of its examples, or, in multi-label classification, of those that
  /// have it. All are 1 if the list is empty.
  std::vector<double> class_weights = {};
  double label_smoothing = 0;                  ///< share of a target that is spread over all labels
  double focal_gamma = 0;                      ///< above 0: focal loss with this exponent
  std::optional<double> huber_delta = {};      ///< regression: Huber's loss with this limit
  std::optional<TeacherOptions> teacher = {};  ///< if targets are the logits of a teacher

  /// Throws `InputError` if a number is out of range or does not go with the problem type.
  void validate(ProblemType type) const {
    const Demand demand{"loss"};
    const auto is_amount = [](double number) { return number >= 0 && std::isfinite(number); };
    demand(label_smoothing >= 0 && label_smoothing <= 1, "label_smoothing",
           "must be at least 0 and at most 1");
    demand(is_amount(focal_gamma), "focal_gamma", "must be a number, not negative");
    demand(is_amount(huber_delta.value_or(1)) && huber_delta != 0, "huber_delta",
           "must be a number above 0");
    const std::string other = "does not go with " + std::string{name(type)};
    demand(class_weights.empty() || has_labels(type), "class_weights", other);
    demand(label_smoothing == 0 || type == ProblemType::single_label, "label_smoothing", other);
    demand(focal_gamma == 0 || has_labels(type), "focal_gamma", other);
    demand(!huber_delta || type == ProblemType::regression, "huber_delta", other);
    demand(!teacher || type == ProblemType::single_label, "teacher", other);
    const auto [temperature, share] = teacher.value_or(TeacherOptions{});
    demand(is_amount(temperature) && temperature > 0, "temperature", "must be a number above 0");
    demand(share >= 0 && share <= 1, "share", "must be at least 0 and at most 1");
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
