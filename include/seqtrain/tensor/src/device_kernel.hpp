#pragma once

#include <algorithm>
#include <array>
#include <climits>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/Device.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <dlfcn.h>
#include <link.h>

#include <seqtrain/core/environment.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/cuda/cubin_cache.hpp>
#include <seqtrain/cuda/driver.hpp>
#include <seqtrain/cuda/nvrtc.hpp>
#include <seqtrain/tensor/device.hpp>
#include <seqtrain/tensor/device_kernel.hpp>

namespace seqtrain::tensor {

namespace detail {

/// Returns the folder of LibTorch's libraries, or an empty path.
[[nodiscard]] inline std::filesystem::path libtorch_folder() {
  void* const library = ::dlopen("libc10.so", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return {};
  std::array<char, PATH_MAX> folder{};
  const int result = ::dlinfo(library, RTLD_DI_ORIGIN, folder.data());
  ::dlclose(library);
  return result == 0 ? folder.data() : "";
}

/// Returns the NVRTC of LibTorch's version of CUDA, which stays loaded. Throws `Error` if it cannot
/// be loaded.
[[nodiscard]] inline const cuda::Nvrtc& nvrtc() {
  static const cuda::Nvrtc& loaded = [&]() -> const cuda::Nvrtc& {
    const long version = at::detail::getCUDAHooks().versionCUDART();
    const auto files = cuda::nvrtc_files(static_cast<int>(version / 1000), libtorch_folder());
    return *cuda::open_nvrtc(files).release();
  }();
  return loaded;
}

/// A kernel on an NVIDIA GPU.
class CudaKernel : public DeviceKernel {
 public:
  CudaKernel(const cuda::KernelSource& source, c10::Device device,
             const std::function<void(const std::string&)>& say)
      : device_{device} {
    const cuda::CubinCache cache{cache_directory() / "kernels", say};
    const std::string cubin = cache.get(source, compute_capability(device), nvrtc());
    const c10::DeviceGuard guard{device};
    driver_.use_device(device.index());
    entry_ = driver_.load(cubin, std::string{source.name});
  }

  void call(const KernelCall& call) const override {
    const c10::DeviceGuard guard{device_};
    driver_.use_device(device_.index());
    driver_.launch(entry_, call.blocks, call.threads, stream(), call.argument);
  }

 private:
  [[nodiscard]] cuda::Driver::Stream stream() const {
    const auto now = c10::impl::getDeviceGuardImpl(device_.type())->getStream(device_);
    if (now.id() == 0) return nullptr;  // CUDA's default stream
    return now.native_handle();
  }

  c10::Device device_;
  cuda::Driver driver_;
  cuda::Driver::Entry entry_ = nullptr;
};

}  // namespace detail

[[nodiscard]] SEQTRAIN_SEPARATE bool asks_for_kernel(std::string_view name) {
  const std::string all = process_environment(kernels_variable).value_or("");
  return std::ranges::count(split(all, ','), name) > 0;
}

[[nodiscard]] SEQTRAIN_SEPARATE std::unique_ptr<const DeviceKernel> load_kernel(
    const cuda::KernelSource& source, c10::Device device,
    const std::function<void(const std::string&)>& say) {
  if (device.is_cuda()) return std::make_unique<const detail::CudaKernel>(source, device, say);
  using Load = const DeviceKernel*(const cuda::KernelSource&, c10::Device);
  auto* const load = reinterpret_cast<Load*>(::dlsym(RTLD_DEFAULT, kernel_loader_name));
  std::unique_ptr<const DeviceKernel> kernel{load != nullptr ? load(source, device) : nullptr};
  if (kernel != nullptr) return kernel;
  throw Error{"kernels of our own are for GPUs of NVIDIA", {.object = device.str()}};
}

}  // namespace seqtrain::tensor
