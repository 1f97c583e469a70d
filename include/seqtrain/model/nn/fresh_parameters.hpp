#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <seqtrain/model/nn/initial_weights.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::model {

/// Makes the parameters of a model without a checkpoint, in the order of its state_dict. Each has a
/// random stream of its own.
class FreshParameters {
 public:
  FreshParameters(std::uint64_t seed, c10::Device device) : seed_{seed}, device_{device} {}

  /// Makes a parameter of numbers that are uniform between -bound and bound.
  at::Tensor uniform(const std::string& name, at::IntArrayRef shape, double bound) {
    const at::Tensor value = at::empty(shape, at::kFloat);
    return add(name, value.uniform_(-bound, bound, initial_generator(seed_, parameters_.size())));
  }

  /// Makes a parameter whose elements are `number`.
  at::Tensor constant(const std::string& name, at::IntArrayRef shape, double number) {
    return add(name, at::empty(shape, at::kFloat).fill_(number));
  }

  /// Makes a parameter of a normalization, to which decoupled weight decay does not apply.
  at::Tensor without_decay(const std::string& name, at::IntArrayRef shape, double number) {
    const at::Tensor value = constant(name, shape, number);
    parameters_.back().role = Role::scale;
    return value;
  }

  [[nodiscard]] const std::vector<tensor::Parameter>& parameters() const { return parameters_; }

 private:
  at::Tensor add(const std::string& name, const at::Tensor& host) {
    const at::Tensor value = host.to(device_);
    parameters_.push_back({name, value, tensor::require_gradient(value)});
    return value;
  }

  std::uint64_t seed_;
  c10::Device device_;
  std::vector<tensor::Parameter> parameters_;
};

/// Groups of a model's parameters by name, from the input to the output.
using LayerGroups = std::vector<std::vector<std::string>>;

/// Freezes all parameters but those of the last `count` groups. Gradients of the others begin at
/// zero.
inline void train_last_groups(std::vector<tensor::Parameter>& parameters, const LayerGroups& groups,
                              std::size_t count) {
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const bool learns = group + count >= groups.size();
    for (auto& parameter : parameters) {
      if (std::ranges::find(groups[group], parameter.name) == groups[group].end()) continue;
      if (learns) {
        parameter.gradient = tensor::require_gradient(parameter.value);
      } else {
        parameter.value.set_requires_grad(false);
        parameter.value.mutable_grad() = parameter.gradient = at::Tensor{};
      }
    }
  }
}

}  // namespace seqtrain::model
