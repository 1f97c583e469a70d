#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::tensor {

/// Named float tensors in host memory, in order, as the writers of `weights` take them. On the
/// processor the bytes are the tensors' own, else copies.
class StateDict {
 public:
  StateDict() = default;

  explicit StateDict(std::span<const Parameter> parameters) {
    for (const auto& parameter : parameters) add(parameter.name, parameter.value);
  }

  void add(const std::string& name, const at::Tensor& value) {
    const auto& host = tensors_.emplace_back(value.detach().to(at::kCPU).contiguous());
    const std::span numbers{host.const_data_ptr<float>(), static_cast<std::size_t>(host.numel())};
    views_.push_back({.name = name,
                      .dtype = weights::DType::f32,
                      .shape = host.sizes().vec(),
                      .bytes = std::as_bytes(numbers)});
  }

  [[nodiscard]] std::span<const weights::TensorView> views() const { return views_; }

 private:
  std::vector<at::Tensor> tensors_;
  std::vector<weights::TensorView> views_;
};

/// Finds the tensors of a saved state by their names, each once.
class SavedTensors {
 public:
  explicit SavedTensors(std::span<const weights::TensorView> tensors) {
    for (const auto& tensor : tensors) tensors_.emplace(tensor.name, &tensor);
  }

  [[nodiscard]] bool has(const std::string& name) const { return tensors_.contains(name); }

  /// Copies a tensor's numbers into `target`. Throws `InputError` where it is missing or has
  /// another shape or type.
  void take(const std::string& name, const at::Tensor& target) {
    const auto found = tensors_.extract(name);
    if (!found) throw InputError{"missing", {.object = name}};
    const weights::TensorView& saved = *found.mapped();
    if (saved.dtype != weights::DType::f32 || at::IntArrayRef{saved.shape} != target.sizes()) {
      throw InputError{"is a tensor of shape " + weights::to_string(saved.shape) + ", expected " +
                           weights::to_string(target.sizes().vec()) + " of F32",
                       {.object = name}};
    }
    const at::NoGradGuard no_gradients;
    const at::Tensor host = at::empty(target.sizes(), target.options().device(at::kCPU));
    std::memcpy(host.mutable_data_ptr<float>(), saved.bytes.data(), saved.bytes.size());
    target.copy_(host);
  }

  /// Throws `InputError` where tensors are left that nobody took.
  void check_all_taken() const {
    if (tensors_.empty()) return;
    throw InputError{"belongs to no parameter", {.object = tensors_.begin()->first}};
  }

 private:
  std::map<std::string, const weights::TensorView*, std::less<>> tensors_;
};

}  // namespace seqtrain::tensor
