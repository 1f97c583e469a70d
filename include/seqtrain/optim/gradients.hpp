#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <c10/core/Event.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <seqtrain/concepts/step.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::optim {

/// Returns the 2-norm of each gradient, [gradients], in fp64: the squares of finite floats may be
/// beyond fp32.
[[nodiscard]] inline at::Tensor gradient_norms(at::TensorList gradients) {
  const auto type = gradients[0].is_mps() ? at::kFloat : at::kDouble;  // Metal has no fp64
  return at::stack(at::_foreach_norm(gradients, 2, type));
}

/// Returns the 2-norm of all gradients as one vector, a scalar on their device, from the norm of
/// each.
[[nodiscard]] inline at::Tensor common_norm(const at::Tensor& norms) {
  return at::linalg_vector_norm(norms, 2);
}

/// Returns the 2-norm of all gradients as one vector, a scalar on their device.
[[nodiscard]] inline at::Tensor global_norm(at::TensorList gradients) {
  return common_norm(gradient_norms(gradients));
}

/// Returns the factor that clips gradients with this common norm to `max_norm`.
[[nodiscard]] inline double clip_factor(double norm, double max_norm) {
  return std::min(1.0, max_norm / (norm + 1e-6));
}

/// Scales the gradients in place by min(1, max_norm / (norm + 1e-6)), as torch's
/// `clip_grad_norm_` does; `norm` is their `global_norm`. Nothing waits for the device.
inline void clip_grad_norm(at::TensorList gradients, const at::Tensor& norm, double max_norm) {
  if (gradients.empty()) return;
  const at::Tensor factor = norm.add(1e-6).reciprocal_().mul_(max_norm);
  at::_foreach_mul_(gradients, factor.clamp_max_(1).to(gradients[0].scalar_type()));
}

/// A copy of a tensor in host memory that its device writes while the program continues.
class Arriving {
 public:
  /// Starts the copy. The call does not wait for the device.
  explicit Arriving(const at::Tensor& tensor) : host_{tensor} {
    if (tensor.is_cpu()) return;
    const c10::DeviceType type = tensor.device().type();
    const auto options = tensor.options().device(c10::kCPU).pinned_memory(true);
    host_ = at::empty(tensor.sizes(), options);
    host_.copy_(tensor, /*non_blocking=*/true);
    event_.emplace(type);
    event_->record(c10::impl::getDeviceGuardImpl(type)->getStream(tensor.device()));
  }

  /// Tells whether `wait` returns without waiting.
  [[nodiscard]] bool is_there() const { return !event_ || event_->query(); }

  /// Waits for the copy, but not for what the device was asked to do after it.
  [[nodiscard]] const at::Tensor& wait() {
    if (event_ && !event_->query()) event_->synchronize();
    event_.reset();
    return host_;
  }

 private:
  at::Tensor host_;
  std::optional<c10::Event> event_;
};

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
/// update, and a copy of them comes to the host later.
class Finite {
 public:
  /// At least one parameter must have a gradient.
  explicit Finite(std::span<const tensor::Parameter> parameters) {
    for (const auto& parameter : parameters) {
      if (!parameter.gradient.defined()) continue;
      gradients_.push_back(parameter.gradient);
      names_.push_back(parameter.name);
    }
    const at::Tensor norms = gradient_norms(gradients_);
    norm_ = common_norm(norms);
    if (!norm_.is_cpu()) found_inf_ = at::isfinite(norm_).logical_not().to(at::kFloat);
    arriving_ = std::make_shared<Arriving>(norms);
  }

  [[nodiscard]] at::TensorList gradients() const { return gradients_; }
  [[nodiscard]] const at::Tensor& norm() const { return norm_; }

  /// Returns a tensor with 1 if a gradient is not finite, else 0. Returns nothing on the processor,
  /// where the answer is known.
  [[nodiscard]] const std::optional<at::Tensor>& found_inf() const { return found_inf_; }

  /// Returns the outcome of a step with these gradients.
  [[nodiscard]] Outcome outcome() const {
    const auto find = [norms = arriving_, names = names_] { return problem(norms->wait(), names); };
    return judge(find).with_gradient_norm(
        [norms = arriving_] { return common_norm(norms->wait()).item<double>(); });
  }

 private:
  template <class Find>
  [[nodiscard]] Outcome judge(const Find& find) const {
    if (found_inf_) {
      return Outcome::on_device(find, [norms = arriving_] { return norms->is_there(); });
    }
    std::string problem = find();
    return problem.empty() ? Outcome{} : Outcome::not_taken(std::move(problem));
  }

  static std::string problem(const at::Tensor& norms, const std::vector<std::string>& names) {
    const at::Tensor wide = norms.to(at::kDouble);
    const auto* const numbers = wide.const_data_ptr<double>();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!std::isfinite(numbers[i])) return "the gradient of " + names[i] + " is not finite";
    }
    return {};
  }

  std::vector<at::Tensor> gradients_;
  std::vector<std::string> names_;
  at::Tensor norm_;
  std::optional<at::Tensor> found_inf_;
  std::shared_ptr<Arriving> arriving_;  ///< the norm of each gradient
};

}  // namespace seqtrain::optim
