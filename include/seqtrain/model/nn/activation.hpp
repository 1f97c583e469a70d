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

/// Returns the activation that config.json's `hidden_act` names. Throws `InputError` if it is
/// unknown.
[[nodiscard]] inline Activation activation(std::string_view name) {
  if (name == "gelu") return [](const at::Tensor& x) { return at::gelu(x); };
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") {
    return [](const at::Tensor& x) { return at::gelu(x, "tanh"); };
  }
  if (name == "relu") return [](const at::Tensor& x) { return at::relu(x); };
  throw InputError{"activation '" + std::string{name} + "' is not supported",
                   {.object = "config.json", .field = "hidden_act"},
                   "supported are gelu, gelu_new, gelu_pytorch_tanh and relu"};
}

}  // namespace seqtrain::model
