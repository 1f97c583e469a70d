#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/tensor/loss_scale.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/state_dict.hpp>

namespace seqtrain::optim {

/// Returns the factor that clips gradients with this common norm to `max_norm`.
[[nodiscard]] inline double clip_factor(double norm, double max_norm) {
  return std::min(1.0, max_norm / (norm + 1e-6));
}

/// Returns `the gradient of <name> is not finite`, or an empty text if all are finite.
inline std::string nonfinite_gradient(std::span<const tensor::Parameter> parameters) {
  for (const auto& parameter : parameters) {
    const at::Tensor& gradient = parameter.gradient;
    if (gradient.defined() && !at::isfinite(gradient).all().item<bool>()) {
      return "the gradient of " + parameter.name + " is not finite";
    }
  }
  return {};
}

/// The gradients of parameters, and by their norms whether they are finite. The norms take one pass
/// over the gradients, which clipping needs anyway. On a device they stay there for the fused
/// update, and a copy of them comes to the host later. If the gradients are of a scaled loss, the
/// norms are those of the loss itself.
class Finite {
 public:
  /// At least one parameter must have a gradient.
  explicit Finite(std::span<const tensor::Parameter> parameters)
      : scale_{parameters.front().loss_scale} {
    for (const auto& parameter : parameters) {
      if (!parameter.gradient.defined()) continue;
      gradients_.push_back(parameter.gradient);
      names_.push_back(parameter.name);
    }
    // In fp64, because the squares of finite floats may be beyond fp32. Metal has no fp64.
    const auto type = gradients_[0].is_mps() ? at::kFloat : at::kDouble;
    at::Tensor norms = at::stack(at::_foreach_norm(gradients_, 2, type));
    if (scale_) norms = norms.div(scale_->value);
    norm_ = at::linalg_vector_norm(norms, 2);
    found_inf_ = at::isfinite(norm_).logical_not().to(at::kFloat);
    if (scale_) norms = at::cat({norms, scale_->value.to(type).view(1)});
    arriving_ = std::make_shared<tensor::Arriving>(norms);
  }

  [[nodiscard]] at::TensorList gradients() const { return gradients_; }

  /// Returns a scalar on their device: 1 if a gradient is not finite, else 0.
  [[nodiscard]] const at::Tensor& found_inf() const { return found_inf_; }

  /// Makes the gradients those of the loss without its factor, and scales them by
  /// min(1, max_norm / (norm + 1e-6)), as torch's `clip_grad_norm_` does. Nothing waits for the
  /// device.
  void clip(double max_norm) const {
    if (!std::isfinite(max_norm) && !scale_) return;
    at::Tensor factor = norm_.add(1e-6).reciprocal_().mul_(max_norm).clamp_max_(1);
    if (scale_) factor = factor.div(scale_->value);
    at::_foreach_mul_(gradients_, factor.to(gradients_[0].scalar_type()));
  }

  /// Returns the outcome of a step with these gradients.
  [[nodiscard]] Outcome outcome() const {
    const auto norms = arriving_;
    Outcome outcome =
        Outcome::on_device([norms, names = names_] { return problem(norms->wait(), names); },
                           [norms] { return norms->is_there(); })
            .with_gradient_norm([norms, count = std::ssize(names_)] {
              return at::linalg_vector_norm(norms->wait().narrow(0, 0, count), 2).item<double>();
            });
    if (!scale_) return outcome;
    return std::move(outcome).with_loss_scale([norms] { return norms->wait()[-1].item<double>(); });
  }

 private:
  static std::string problem(const at::Tensor& norms, const std::vector<std::string>& names) {
    const at::Tensor wide = norms.to(at::kDouble);
    const auto* const numbers = wide.const_data_ptr<double>();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!std::isfinite(numbers[i])) return "the gradient of " + names[i] + " is not finite";
    }
    return {};
  }

  std::shared_ptr<tensor::LossScale> scale_;
  std::vector<at::Tensor> gradients_;
  std::vector<std::string> names_;
  at::Tensor norm_, found_inf_;
  /// The norm of each gradient, then the loss scale if any.
  std::shared_ptr<tensor::Arriving> arriving_;
};

}  // namespace seqtrain::optim
