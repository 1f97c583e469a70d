#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/Device.h>
#include <gtest/gtest.h>

#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::tests {

/// Parameters of each kind with values and gradients that tests/golden/rules.py has too: two
/// matrices of layers, an embedding, a bias, a scale and a number.
struct OptimizerCase {
  std::vector<tensor::Parameter> parameters;

  explicit OptimizerCase(c10::Device device = c10::kCPU) {
    using tensor::Role;
    using Part = tensor::Depth::Part;
    add("layer.0.wide", {4, 6}, Role::weight, {Part::layer, 0}, device);
    add("layer.1.tall", {7, 3}, Role::weight, {Part::layer, 1}, device);
    add("words", {5, 4}, Role::words, {Part::embedding}, device);
    add("bias", {4}, Role::bias, {Part::layer, 1}, device);
    add("scale", {5}, Role::scale, {Part::layer, 1}, device);
    add("number", {}, Role::bias, {Part::head}, device);
  }

  /// Sets the gradients of a step, times a factor.
  void set_gradients(std::int64_t step, double factor = 1) const {
    const double t = 0.1 * static_cast<double>(step);
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      const auto cosine = [=](double i) { return factor * std::cos(t * (i + 1) + double(p)); };
      if (parameters[p].gradient.defined()) fill(parameters[p].gradient, cosine);
    }
  }

  /// Takes the steps from `from` to `to` - 1, which all must be taken, with falling learning rates.
  template <class O>
  void take_steps(O& optimizer, std::int64_t from, std::int64_t to) const {
    for (std::int64_t step = from; step < to; ++step) {
      set_gradients(step);
      const double scale = 1 / (1.0 + static_cast<double>(step));
      EXPECT_EQ(optimizer.step(parameters, {.lr_scale = scale, .max_grad_norm = 1}).problem(), "");
    }
  }

  /// Copies the values of equal parameters, which may be on another device.
  void copy_values(const OptimizerCase& from) const {
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      parameters[p].value.copy_(from.parameters[p].value);
    }
  }

 private:
  template <class Element>
  static void fill(const at::Tensor& tensor, const Element& element) {
    const at::Tensor host = at::zeros(tensor.sizes());
    for (std::int64_t i = 0; i < host.numel(); ++i) {
      host.mutable_data_ptr<float>()[i] = static_cast<float>(element(static_cast<double>(i)));
    }
    tensor.copy_(host);
  }

  void add(const std::string& name, const std::vector<std::int64_t>& shape, tensor::Role role,
           tensor::Depth depth, c10::Device device) {
    const auto options = at::TensorOptions{device};
    parameters.push_back({.name = name,
                          .value = at::zeros(shape, options),
                          .gradient = at::zeros(shape, options),
                          .role = role,
                          .depth = depth});
    const auto p = static_cast<double>(parameters.size() - 1);
    fill(parameters.back().value, [p](double i) { return std::sin(i + p); });
  }
};

}  // namespace seqtrain::tests
