#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <seqtrain/model/cpu/word_loss_pass.hpp>

namespace seqtrain::model::cpu {

namespace detail {

/// Computes the gradients together with the loss, while the logits are in memory.
template <class T>
struct WordLossFunction : torch::autograd::Function<WordLossFunction<T>> {
  using Context = torch::autograd::AutogradContext;
  using Tensors = torch::autograd::variable_list;

  static at::Tensor forward(Context* context, const at::Tensor& x, const at::Tensor& weight,
                            const at::Tensor& bias, std::span<const std::int64_t> labels,
                            bool training, WordLossPass<T>* pass) {
    const auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
    const auto options = weight.options().requires_grad(false);
    const at::Tensor values = x.contiguous();
    at::Tensor d_x, d_weight, d_bias;
    typename WordLossPass<T>::Gradients to;
    if (training && x.requires_grad()) {
      d_x = at::empty(x.sizes(), options);
      to.x = d_x.mutable_data_ptr<float>();
    }
    if (training && (weight.requires_grad() || bias.requires_grad())) {
      d_weight = at::zeros(weight.sizes(), options);
      d_bias = at::zeros(bias.sizes(), options);
      to.decoder = {d_weight.mutable_data_ptr<float>(), d_bias.mutable_data_ptr<float>()};
    }
    const double loss = (*pass)({values.const_data_ptr<float>(), labels.data(), size(x.size(0)),
                                 size(x.size(1)), size(weight.size(0))},
                                {weight.const_data_ptr<float>(), bias.const_data_ptr<float>()}, to);
    context->saved_data["x"] = d_x;
    context->saved_data["weight"] = d_weight;
    context->saved_data["bias"] = d_bias;
    return at::empty({}, options).fill_(loss);
  }

  static Tensors backward(Context* context, const Tensors& gradients) {
    const auto factor = gradients[0].item<float>();
    Tensors results(6);
    std::size_t i = 0;
    for (const char* const name : {"x", "weight", "bias"}) {
      at::Tensor gradient = context->saved_data[name].toTensor();
      results[i++] = !gradient.defined() || factor == 1 ? gradient : gradient.mul(factor);
    }
    return results;
  }
};

}  // namespace detail

/// Returns the mean cross-entropy of logits x weight^T + bias, for autograd, with x [words, in],
/// weight [vocabulary, in] and one label per word. All tensors are fp32 on the processor. Only a
/// part of the logits is in memory at a time (see `WordLossPass`). The forward pass also computes
/// the gradients if they are enabled. The result does not depend on the number of threads.
template <class T>
at::Tensor word_loss(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                     std::span<const std::int64_t> labels, WordLossPass<T>& pass) {
  return detail::WordLossFunction<T>::apply(x, weight, bias, labels, at::GradMode::is_enabled(),
                                            &pass);
}

}  // namespace seqtrain::model::cpu
