#pragma once

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
#include <seqtrain/optim/gradients.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/state_dict.hpp>

namespace seqtrain::optim {

SEQTRAIN_SEPARATE std::string nonfinite_gradient(std::span<const tensor::Parameter> parameters) {
  for (const auto& parameter : parameters) {
    const at::Tensor& gradient = parameter.gradient;
    if (gradient.defined() && !at::isfinite(gradient).all().item<bool>()) {
      return "the gradient of " + parameter.name + " is not finite";
    }
  }
  return {};
}

SEQTRAIN_SEPARATE Finite::Finite(std::span<const tensor::Parameter> parameters)
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

SEQTRAIN_SEPARATE void Finite::clip(double max_norm) const {
  if (!std::isfinite(max_norm) && !scale_) return;
  at::Tensor factor = norm_.add(1e-6).reciprocal_().mul_(max_norm).clamp_max_(1);
  if (scale_) factor = factor.div(scale_->value);
  at::_foreach_mul_(gradients_, factor.to(gradients_[0].scalar_type()));
}

namespace detail {

/// Returns which gradient is not finite, or an empty text.
inline std::string problem_of_norms(const at::Tensor& norms,
                                    const std::vector<std::string>& names) {
  const at::Tensor wide = norms.to(at::kDouble);
  const auto* const numbers = wide.const_data_ptr<double>();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!std::isfinite(numbers[i])) return "the gradient of " + names[i] + " is not finite";
  }
  return {};
}

}  // namespace detail

[[nodiscard]] SEQTRAIN_SEPARATE Outcome outcome_of(std::shared_ptr<tensor::Arriving> norms,
                                                   std::vector<std::string> names, bool is_scaled) {
  const auto count = std::ssize(names);
  Outcome outcome =
      Outcome::on_device(
          [norms, names = std::move(names)] {
            return detail::problem_of_norms(norms->wait(), names);
          },
          [norms] { return norms->is_there(); })
          .with_gradient_norm([norms, count] {
            return at::linalg_vector_norm(norms->wait().narrow(0, 0, count), 2).item<double>();
          });
  if (!is_scaled) return outcome;
  return std::move(outcome).with_loss_scale([norms] { return norms->wait()[-1].item<double>(); });
}

}  // namespace seqtrain::optim
