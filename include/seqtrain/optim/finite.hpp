#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/isfinite.h>

#include <seqtrain/concepts/outcome.hpp>
#include <seqtrain/optim/clip.hpp>
#include <seqtrain/tensor/arriving.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::optim {

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
    arriving_ = std::make_shared<tensor::Arriving>(norms);
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
  std::shared_ptr<tensor::Arriving> arriving_;  ///< the norm of each gradient
};

}  // namespace seqtrain::optim
