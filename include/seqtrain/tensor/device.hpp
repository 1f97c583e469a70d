#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <ATen/DeviceAccelerator.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/Device.h>
#include <c10/core/DeviceType.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/shared_library.hpp>

namespace seqtrain::tensor {

namespace detail {

/// Returns the newest version of CUDA that the installed NVIDIA driver supports, such as 13020 for
/// 13.2, or nothing if there is no driver. The number is that of `cuDriverGetVersion`.
[[nodiscard]] inline std::optional<int> driver_version() {
  try {
    const SharedLibrary driver{"libcuda.so.1"};
    int (*const get_version)(int*) = driver.find("cuDriverGetVersion");
    int version = 0;
    return get_version(&version) == 0 ? version : 0;
  } catch (const Error&) {
    return {};
  }
}

/// Returns a version of CUDA as people write it.
[[nodiscard]] inline std::string cuda_version_text(long version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Loads LibTorch's part for GPUs and leaves it loaded. Returns the reason if that fails. Must come
/// before the first use of `at::detail::getCUDAHooks`, which looks for that part once.
[[nodiscard]] inline std::string load_libtorch_cuda() {
  static constexpr const char* name = "libtorch_cuda.so";
  if (::dlopen(name, RTLD_NOW | RTLD_GLOBAL) != nullptr) return "";
  const std::string reason = ::dlerror();
  if (reason.starts_with(name)) {
    return "this LibTorch is built without CUDA; install one that is built with it";
  }
  return std::string{"LibTorch's part for GPUs cannot be loaded: "} + reason +
         "; install LibTorch with the libraries of CUDA that it needs";
}

/// Returns the reason if LibTorch's part for GPUs, which is loaded, finds no GPU.
[[nodiscard]] inline std::string find_gpu(int driver) {
  const auto& hooks = at::detail::getCUDAHooks();
  // A driver serves all versions of CUDA with its own first number, and older ones.
  const long needed = hooks.versionCUDART();
  if (driver / 1000 < needed / 1000) {
    return "the NVIDIA driver supports CUDA " + cuda_version_text(driver) +
           ", but this LibTorch needs CUDA " + cuda_version_text(needed / 1000 * 1000) +
           "; install a newer driver, or a LibTorch for that CUDA";
  }
  if (hooks.hasCUDA()) return "";
  if (const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
    return "CUDA_VISIBLE_DEVICES is '" + std::string{visible} +
           "' and hides all GPUs; unset it, or name one in it";
  }
  return "the NVIDIA driver finds no GPU; look at what nvidia-smi says";
}

[[nodiscard]] inline std::string find_cuda_problem() {
  const auto driver = driver_version();
  if (!driver) return "there is no NVIDIA driver (libcuda.so.1)";
  auto problem = load_libtorch_cuda();
  return problem.empty() ? find_gpu(*driver) : problem;
}

}  // namespace detail

/// Returns the reason for which this process cannot use a GPU through CUDA, or an empty string if
/// it can. The first call loads LibTorch's part for GPUs, which takes most of a second and some
/// hundred megabytes, if the machine has an NVIDIA driver. So programs need not be linked to that
/// part.
[[nodiscard]] inline const std::string& cuda_problem() {
  static const std::string problem = detail::find_cuda_problem();
  return problem;
}

/// Tells whether this process can use a GPU through CUDA.
[[nodiscard]] inline bool has_cuda() {
  return cuda_problem().empty();
}

/// Returns ten times the compute capability of a CUDA device, such as 75 for 7.5, which the driver
/// knows. Returns 0 for other devices.
[[nodiscard]] inline int compute_capability(c10::Device device) {
  if (!device.is_cuda() || !has_cuda()) return 0;
  const SharedLibrary driver{"libcuda.so.1"};
  int (*const get)(int*, int) = driver.find("cuDeviceGet");
  int (*const get_attribute)(int*, int, int) = driver.find("cuDeviceGetAttribute");
  int handle = 0, major = 0, minor = 0;
  get(&handle, device.has_index() ? device.index() : 0);
  get_attribute(&major, 75, handle);  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
  get_attribute(&minor, 76, handle);
  return 10 * major + minor;
}

namespace detail {

[[nodiscard]] inline c10::Device device_named(std::string_view name) {
  try {
    return c10::Device{std::string{name}};
  } catch (const c10::Error&) {
    throw InputError{"unknown device '" + std::string{name} + "'",
                     {.object = "device"},
                     "use auto, cpu, cuda, cuda:1, or the name of another device of LibTorch"};
  }
}

/// Returns the reason for which this process cannot use devices of a type, or an empty string.
[[nodiscard]] inline std::string device_problem(c10::DeviceType type) {
  if (type == c10::kCUDA) return cuda_problem();
  if (!at::isAccelerator(type) || !c10::impl::hasDeviceGuardImpl(type)) {
    return "this LibTorch is built without it";
  }
  return c10::impl::getDeviceGuardImpl(type)->deviceCount() > 0 ? "" : "there is none";
}

inline void check_index(c10::DeviceType type, int index) {
  const int count = c10::impl::getDeviceGuardImpl(type)->deviceCount();
  if (index < count) return;
  throw InputError{
      "has no device " + std::to_string(index) + ": there are " + std::to_string(count),
      {.object = c10::DeviceTypeName(type)},
      "start as many processes as there are devices, or name one from 0 on"};
}

}  // namespace detail

/// Returns the device with a name: `cpu`; `cuda`, `cuda:1`, `xpu` or another device of LibTorch;
/// or `auto`, which is CUDA if there is a device. If the name has no number, `index` is the number
/// of the device. Throws `InputError` if the name is unknown, or if the device does not exist.
[[nodiscard]] inline c10::Device select_device(std::string_view name, int index = 0) {
  if (name == "auto") name = has_cuda() ? "cuda" : "cpu";
  const c10::Device device = detail::device_named(name);
  if (device.is_cpu()) return c10::Device{c10::kCPU};
  const auto type = device.type();
  if (const std::string problem = detail::device_problem(type); !problem.empty()) {
    throw InputError{c10::DeviceTypeName(type) + " is not available: " + problem,
                     {.object = "device"}};
  }
  if (device.has_index() && index > 0) {
    throw InputError{
        "each process has a device of its own, but '" + std::string{name} + "' names one for all",
        {.object = "device"},
        "name it without a number"};
  }
  const int number = device.has_index() ? device.index() : index;
  detail::check_index(type, number);
  return c10::Device{type, static_cast<c10::DeviceIndex>(number)};
}

}  // namespace seqtrain::tensor
