#pragma once

#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/native_layer_norm_backward.h>
#include <ATen/ops/zeros_like.h>

#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/packed/attention.hpp>
#include <seqtrain/model/packed/fused_linear.hpp>
#include <seqtrain/model/packed/norm_on_device.hpp>

namespace seqtrain::model::packed {

/// New gradients of layer normalizations, which one operator adds to those of the parameters.
struct NormGradients {
  std::vector<at::Tensor> sums, added;

  /// Takes the gradient of a parameter, unless the parameter is frozen.
  void append(const at::Tensor& parameter, const at::Tensor& gradient) {
    if (!parameter.requires_grad()) return;
    sums.push_back(parameter.grad());
    added.push_back(gradient);
  }

  void add() {
    if (!added.empty()) at::_foreach_add_(sums, added);
    *this = {};
  }
};

/// A layer normalization, and its numbers of one forward pass.
class Norm {
 public:
  Norm(const LayerNorm& norm) : norm_{norm} {}

  at::Tensor operator()(at::Tensor x) {
    at::Tensor y;
    std::tie(y, mean_, rstd_) =
        at::native_layer_norm(x, norm_.weight.sizes(), norm_.weight, bias(), norm_.eps);
    x_ = std::move(x);
    return y;
  }

  /// Returns the gradient of x, and appends the new gradients of the parameters.
  at::Tensor backward(const at::Tensor& d_y, NormGradients& gradients) {
    const bool learns = norm_.weight.requires_grad();
    auto [d_x, d_weight, d_bias] = at::native_layer_norm_backward(
        d_y, std::exchange(x_, {}), norm_.weight.sizes(), mean_, rstd_, norm_.weight, bias(),
        {true, learns, learns && norm_.bias.defined()});
    gradients.append(norm_.weight, d_weight);
    gradients.append(norm_.bias, d_bias);
    forget();
    return d_x;
  }

  void forget() { x_ = mean_ = rstd_ = at::Tensor{}; }

 private:
  [[nodiscard]] std::optional<at::Tensor> bias() const { return detail::if_defined(norm_.bias); }

  LayerNorm norm_;
  at::Tensor x_, mean_, rstd_;
};

/// Returns the gradients of a residual to which others are added, and of what is read of it.
[[nodiscard]] inline Hidden gradients_of(const LayerTraits& traits, const at::Tensor& residual) {
  return {residual, traits.pre_norm ? at::zeros_like(residual) : residual};
}

/// Dropout, the sum with the residual and a layer normalization, and their numbers of one forward
/// pass. Kernels of our own compute them, or operators if there are none.
class AddAndNorm {
 public:
  AddAndNorm(const LayerNorm& norm, double dropout, const LayerTraits& traits,
             std::shared_ptr<const NormOnDevice> kernels)
      : parts_{norm},
        rate_{dropout},
        traits_{traits},
        norm_{norm},
        dropout_{dropout},
        kernels_{std::move(kernels)} {}

  /// Adds y [tokens, hidden] after dropout to the residual, and normalizes.
  Hidden forward(const at::Tensor& residual, const at::Tensor& y, const Rows& rows, bool training) {
    if (kernels_) {
      const SeededDropout dropout = training ? rows.masks.next(rate_, y.device()) : SeededDropout{};
      return kernels_->forward(parts_, traits_.pre_norm, residual, y, dropout,
                               training ? &pass_ : nullptr);
    }
    return add_and_norm(traits_, norm_, residual, dropout_.forward(y, training));
  }

  /// Replaces the gradients after the norm by those before it, and appends the new gradients of the
  /// parameters. Returns the gradient of y, which is of this type.
  at::Tensor backward(Hidden& d, at::ScalarType type, NormGradients& gradients) {
    const at::Tensor d_residual = traits_.pre_norm ? d.residual : at::Tensor{};
    if (kernels_) {
      const auto before =
          kernels_->backward(parts_, d.normal, d_residual, std::exchange(pass_, {}));
      d = gradients_of(traits_, before.sum);
      return before.x;
    }
    const at::Tensor d_sum = norm_.backward(d.normal, gradients);
    d = gradients_of(traits_, d_residual.defined() ? d_residual.add(d_sum) : d_sum);
    return dropout_.backward(d.residual.to(type));
  }

  /// Frees the saved activations.
  void forget() {
    norm_.forget();
    dropout_.forget();
    pass_ = {};
  }

 private:
  LayerNorm parts_;
  double rate_;
  LayerTraits traits_;
  Norm norm_;
  MaskedDropout dropout_;
  std::shared_ptr<const NormOnDevice> kernels_;
  NormOnDevice::Pass pass_;
};

}  // namespace seqtrain::model::packed
