#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/tensor/loss_scale.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/state_dict.hpp>

namespace seqtrain::optim {

/// Returns the factor that clips gradients with this common norm to `max_norm`.
[[nodiscard]] inline double clip_factor(double norm, double max_norm) {
  return std::min(1.0, max_norm / (norm + 1e-6));
}

/// Returns `the gradient of <name> is not finite`, or an empty text if all are finite.
SEQTRAIN_SEPARATE std::string nonfinite_gradient(std::span<const tensor::Parameter> parameters);

/// Returns the outcome of a step whose gradients have these norms, after which the loss scale comes
/// if there is one. `names` are those of the parameters.
[[nodiscard]] SEQTRAIN_SEPARATE Outcome outcome_of(std::shared_ptr<tensor::Arriving> norms,
                                                   std::vector<std::string> names, bool is_scaled);

/// The gradients of parameters, and by their norms whether they are finite. The norms take one pass
/// over the gradients, which clipping needs anyway. On a device they stay there for the fused
/// update, and a copy of them comes to the host later. If the gradients are of a scaled loss, the
/// norms are those of the loss itself.
class Finite {
 public:
  /// At least one parameter must have a gradient.
  explicit Finite(std::span<const tensor::Parameter> parameters);

  [[nodiscard]] at::TensorList gradients() const { return gradients_; }

  /// Returns a scalar on their device: 1 if a gradient is not finite, else 0.
  [[nodiscard]] const at::Tensor& found_inf() const { return found_inf_; }

  /// Makes the gradients those of the loss without its factor, and scales them by
  /// min(1, max_norm / (norm + 1e-6)), as torch's `clip_grad_norm_` does. Nothing waits for the
  /// device.
  void clip(double max_norm) const;

  /// Returns the outcome of a step with these gradients.
  [[nodiscard]] Outcome outcome() const { return outcome_of(arriving_, names_, scale_ != nullptr); }

 private:
  std::shared_ptr<tensor::LossScale> scale_;
  std::vector<at::Tensor> gradients_;
  std::vector<std::string> names_;
  at::Tensor norm_, found_inf_;
  /// The norm of each gradient, then the loss scale if any.
  std::shared_ptr<tensor::Arriving> arriving_;
};

}  // namespace seqtrain::optim

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/optim/src/gradients.hpp>
#endif
