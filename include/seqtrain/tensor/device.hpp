#pragma once

#include <string>
#include <string_view>

#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/Device.h>

#include <seqtrain/core/error.hpp>

namespace seqtrain::tensor {

/// Whether a CUDA device can be used in this process.
[[nodiscard]] inline bool has_cuda() {
  return at::detail::getCUDAHooks().hasCUDA();
}

/// Whether the current CUDA device multiplies bfloat16 itself: its compute capability is 8 or
/// above. That is asked by way of cuDNN's convolutions, which need the same, because only CUDA's
/// own headers give the number; false where torch has no cuDNN.
[[nodiscard]] inline bool cuda_has_bf16() {
  return has_cuda() && at::detail::getCUDAHooks().supportsBFloat16ConvolutionWithCuDNNv8();
}

/// The device that `name` means: `cpu`, `cuda` or, for CUDA where there is one, `auto`. Throws
/// `InputError` on another name and where CUDA is asked for and absent. `index` numbers the CUDA
/// device.
[[nodiscard]] inline c10::Device select_device(std::string_view name, int index = 0) {
  const Where where{.object = "device"};
  if (name == "cpu" || (name == "auto" && !has_cuda())) return c10::Device{c10::kCPU};
  if (name != "cuda" && name != "auto") {
    throw InputError{"unknown device '" + std::string{name} + "'", where, "use auto, cpu or cuda"};
  }
  if (!has_cuda()) throw InputError{"CUDA is not available", where, "use cpu or auto"};
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
