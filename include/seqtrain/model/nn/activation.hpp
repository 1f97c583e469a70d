#pragma once

#include <string>
#include <string_view>

#include <ATen/core/Tensor.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/silu.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/kernels/activation.hpp>

namespace seqtrain::model {

/// A function of each element.
using Activation = at::Tensor (*)(const at::Tensor&);

/// The activations that the layers compute.
enum class ActivationKind { gelu, gelu_new, relu, silu };

/// Returns the activation that config.json's `hidden_act` names. Throws `InputError` if it is
/// unknown.
[[nodiscard]] inline ActivationKind activation_kind(std::string_view name) {
  if (name == "gelu") return ActivationKind::gelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") return ActivationKind::gelu_new;
  if (name == "relu") return ActivationKind::relu;
  if (name == "silu") return ActivationKind::silu;
  throw InputError{"activation '" + std::string{name} + "' is not supported",
                   {.object = "config.json", .field = "hidden_act"},
                   "supported are gelu, gelu_new, gelu_pytorch_tanh, relu and silu"};
}

/// Returns the name that ATen has for the formula of a GELU.
[[nodiscard]] inline std::string_view approximation(ActivationKind kind) {
  return kind == ActivationKind::gelu_new ? "tanh" : "none";
}

/// Applies an activation to each element.
[[nodiscard]] inline at::Tensor activate(const at::Tensor& x, ActivationKind kind) {
  if (kind == ActivationKind::silu) return at::silu(x);
  return kind == ActivationKind::relu ? at::relu(x) : at::gelu(x, approximation(kind));
}

/// Calls use(act) with the kernel of an activation. `Gelu` is the one of GELU.
template <class Gelu, class Use>
void with_kernel(ActivationKind kind, const Use& use) {
  switch (kind) {
    case ActivationKind::gelu:
      return use(Gelu{});
    case ActivationKind::gelu_new:
      return use(kernels::GeluNew{});
    case ActivationKind::relu:
      return use(kernels::Relu{});
    case ActivationKind::silu:
      return use(kernels::Silu{});
  }
}

/// Returns the function that config.json's `hidden_act` names. Throws `InputError` if it is
/// unknown.
[[nodiscard]] inline Activation activation(std::string_view name) {
  using enum ActivationKind;
  const ActivationKind kind = activation_kind(name);
  if (kind == gelu) return [](const at::Tensor& x) { return activate(x, gelu); };
  if (kind == relu) return [](const at::Tensor& x) { return activate(x, relu); };
  if (kind == silu) return [](const at::Tensor& x) { return activate(x, silu); };
  return [](const at::Tensor& x) { return activate(x, gelu_new); };
}

}  // namespace seqtrain::model
