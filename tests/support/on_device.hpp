#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

namespace seqtrain::tests {

/// The device of `support/fake_device.cpp`.
inline const c10::Device fake_device{c10::DeviceType::PrivateUse1, 0};

/// Copies a tensor to the fake device.
[[nodiscard]] inline at::Tensor on_device(const at::Tensor& tensor) {
  return tensor.to(fake_device);
}

/// Returns the largest difference of two tensors, each on any device.
[[nodiscard]] inline double difference(const at::Tensor& a, const at::Tensor& b) {
  return a.cpu().sub(b.cpu()).abs().max().item<double>();
}

}  // namespace seqtrain::tests
