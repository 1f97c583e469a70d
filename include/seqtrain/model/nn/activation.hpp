#pragma once

#include <string>
#include <string_view>

#include <ATen/core/Tensor.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/relu.h>

#include <seqtrain/core/error.hpp>

namespace seqtrain::model {

/// A function of each element.
using Activation = at::Tensor (*)(const at::Tensor&);

enum class ActivationKind { gelu, gelu_new, relu };

/// Returns the activation that config.json's `hidden_act` names. Throws `InputError` if it is
/// unknown.
[[nodiscard]] inline ActivationKind activation_kind(std::string_view name) {
  if (name == "gelu") return ActivationKind::gelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") return ActivationKind::gelu_new;
  if (name == "relu") return ActivationKind::relu;
  throw InputError{"activation '" + std::string{name} + "' is not supported",
                   {.object = "config.json", .field = "hidden_act"},
                   "supported are gelu, gelu_new, gelu_pytorch_tanh and relu"};
}

[[nodiscard]] inline Activation activation(std::string_view name) {
  const ActivationKind kind = activation_kind(name);
  if (kind == ActivationKind::gelu) return [](const at::Tensor& x) { return at::gelu(x); };
  if (kind == ActivationKind::relu) return [](const at::Tensor& x) { return at::relu(x); };
  return [](const at::Tensor& x) { return at::gelu(x, "tanh"); };
}

}  // namespace seqtrain::model
