#pragma once

#include <string>
#include <string_view>

#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/Device.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/tensor/cuda.hpp>

namespace seqtrain::tensor {

/// Tells whether the current CUDA device multiplies bfloat16 natively, that is, has a compute
/// capability of 8 or above. Only CUDA's headers give that number, so the function asks whether
/// cuDNN's convolutions support bfloat16, which needs the same. Returns false if torch has no
/// cuDNN.
[[nodiscard]] inline bool cuda_has_bf16() {
  return has_cuda() && at::detail::getCUDAHooks().supportsBFloat16ConvolutionWithCuDNNv8();
}

/// Returns the device with a name: `cpu`, `cuda`, or `auto`, which is CUDA if there is a device.
/// `index` is the number of the CUDA device. Throws `InputError` if the name is unknown, or if a
/// CUDA device is needed that does not exist.
[[nodiscard]] inline c10::Device select_device(std::string_view name, int index = 0) {
  const Where where{.object = "device"};
  if (name == "cpu" || (name == "auto" && !has_cuda())) return c10::Device{c10::kCPU};
  if (name != "cuda" && name != "auto") {
    throw InputError{"unknown device '" + std::string{name} + "'", where, "use auto, cpu or cuda"};
  }
  if (!has_cuda()) throw InputError{"CUDA is not available: " + cuda_problem(), where};
  const auto count = static_cast<int>(at::detail::getCUDAHooks().getNumGPUs());
  if (index >= count) {
    throw InputError{
        "has no device " + std::to_string(index) + ": there are " + std::to_string(count),
        {.object = "CUDA"},
        "start as many processes as there are GPUs"};
  }
  return c10::Device{c10::kCUDA, static_cast<c10::DeviceIndex>(index)};
}

}  // namespace seqtrain::tensor
