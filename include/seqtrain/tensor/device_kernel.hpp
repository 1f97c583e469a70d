#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/cuda/kernel_source.hpp>

namespace seqtrain::tensor {

/// A call of a kernel on the current stream of its device.
struct KernelCall {
  unsigned blocks = 0;
  unsigned threads = 0;      ///< of a block
  void* argument = nullptr;  ///< the kernel's argument, a struct, which the call copies
  std::span<const at::Tensor> reads = {};
  std::span<const at::Tensor> writes = {};  ///< tensors that the kernel writes, and may read
};

/// A kernel of our own that a device has loaded.
class DeviceKernel {
 public:
  virtual ~DeviceKernel() = default;

  /// Queues a call. It does not wait for the device.
  virtual void call(const KernelCall& call) const = 0;
};

/// The name of the function that a library of the process may export to run kernels on its own
/// device: `const DeviceKernel*(const cuda::KernelSource&, c10::Device)`, which returns null if it
/// has no such kernel. The caller owns the kernel.
inline constexpr const char* kernel_loader_name = "seqtrain_load_kernel";

/// The environment variable that names the kernels to use, a list with commas.
inline constexpr const char* kernels_variable = "SEQTRAIN_GPU_KERNELS";

/// Tells whether `kernels_variable` names a kernel.
[[nodiscard]] SEQTRAIN_SEPARATE bool asks_for_kernel(std::string_view name);

/// Loads a kernel. For CUDA it is compiled by NVRTC, or read from the user's cache, where `say`
/// gets a sentence if the cache cannot be written. Throws `Error` if the device cannot run it.
[[nodiscard]] SEQTRAIN_SEPARATE std::unique_ptr<const DeviceKernel> load_kernel(
    const cuda::KernelSource& source, c10::Device device,
    const std::function<void(const std::string&)>& say);

}  // namespace seqtrain::tensor

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/tensor/src/device_kernel.hpp>
#endif
