#pragma once

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <ATen/core/Tensor.h>
#include <ATen/ops/isfinite.h>

#include <seqtrain/optim/clip.hpp>
#include <seqtrain/optim/outcome.hpp>
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

/// Tells by their common norm whether gradients are finite. The norm takes one pass over the
/// gradients, which clipping needs anyway. On a GPU the answer stays on the GPU for the fused
/// update.
class Finite {
 public:
  explicit Finite(at::TensorList gradients) : norm_{global_norm(gradients)} {
    if (norm_.is_cpu()) return;
    found_inf_ = at::isfinite(norm_).logical_not().to(at::kFloat);
  }

  [[nodiscard]] const at::Tensor& norm() const { return norm_; }

  /// Returns a tensor with 1 if a gradient is not finite, else 0. Returns nothing on the processor,
  /// where the answer is known.
  [[nodiscard]] const std::optional<at::Tensor>& found_inf() const { return found_inf_; }

  /// Returns the outcome of a step with these gradients. On the processor, a norm that overflows
  /// float is not a problem if all gradients are finite.
  [[nodiscard]] Outcome outcome(std::span<const tensor::Parameter> parameters) {
    return judge(parameters).with_gradient_norm([norm = norm_] { return norm.item<double>(); });
  }

  /// Tells whether it is known that the step must not be taken.
  [[nodiscard]] bool known_bad() const { return bad_; }

 private:
  Outcome judge(std::span<const tensor::Parameter> parameters) {
    if (found_inf_) {
      return Outcome::on_device([flag = *found_inf_] {
        return flag.item<float>() == 0 ? std::string{} : std::string{"a gradient is not finite"};
      });
    }
    if (std::isfinite(norm_.item<float>())) return {};
    std::string problem = nonfinite_gradient(parameters);
    bad_ = !problem.empty();
    return bad_ ? Outcome::not_taken(std::move(problem)) : Outcome{};
  }

  at::Tensor norm_;
  std::optional<at::Tensor> found_inf_;
  bool bad_ = false;
};

}  // namespace seqtrain::optim
