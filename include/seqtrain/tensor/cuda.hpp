#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include <ATen/detail/CUDAHooksInterface.h>
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

}  // namespace seqtrain::tensor
