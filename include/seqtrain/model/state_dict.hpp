#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::model {

/// A model's float parameters in host memory, in order, as the writers of `weights` take them. On
/// the processor they are the parameters' own bytes, else copies.
class StateDict {
 public:
  explicit StateDict(std::span<const tensor::Parameter> parameters) {
    for (const auto& [name, value, gradient] : parameters) {
      const auto& host = tensors_.emplace_back(value.detach().to(at::kCPU).contiguous());
      const std::span numbers{host.const_data_ptr<float>(), static_cast<std::size_t>(host.numel())};
      views_.push_back({.name = name,
                        .dtype = weights::DType::f32,
                        .shape = host.sizes().vec(),
                        .bytes = std::as_bytes(numbers)});
    }
  }

  [[nodiscard]] std::span<const weights::TensorView> views() const { return views_; }

 private:
  std::vector<at::Tensor> tensors_;
  std::vector<weights::TensorView> views_;
};

}  // namespace seqtrain::model
