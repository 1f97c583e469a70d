#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <ATen/Context.h>
#include <c10/core/Device.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/version.h>

#include <seqtrain/core/version.hpp>
#include <seqtrain/tensor/device.hpp>
#include <seqtrain/tensor/threads.hpp>

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

namespace seqtrain::tensor {

/// Prepares a program for the named device and the given number of threads on the processor.
/// `local_rank` is the number of this process on its machine; each process has its own device.
inline c10::Device use_machine(std::string_view device, std::int64_t threads, int local_rank = 0) {
  set_threads(static_cast<int>(threads));
  const c10::Device selected = select_device(device, local_rank);
  if (!selected.is_cpu()) c10::impl::getDeviceGuardImpl(selected.type())->setDevice(selected);
  return selected;
}

/// Makes the operators of a device give equal bits each time for the rest of the program, as
/// `torch.use_deterministic_algorithms(True)` does. An operator that cannot do so throws. Call it
/// before the first operator of the device. It does nothing for a processor, whose operators give
/// equal bits anyway.
inline void use_deterministic_operators(c10::Device device) {
  if (device.is_cpu()) return;
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);  // cuBLAS demands this
  // If they only warned, torch's operators of attention would ignore the setting.
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
}

/// Returns lines for a log about the machine: whether CUDA is available, and if not, what a machine
/// with an NVIDIA driver lacks; the device; and the number of threads, with a warning if there are
/// more threads than cores.
[[nodiscard]] inline std::string describe(c10::Device device) {
  std::string text = std::string{"`cuda` available: "} + (has_cuda() ? "True" : "False") +
                     (has_cuda() || !detail::driver_version() ? "" : ": " + cuda_problem()) +
                     "\nCurrent Device: " + device.str() +
                     "\nThreads: " + std::to_string(threads());
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  if (cores > 0 && threads() > cores) {
    text += "; warning: there are only " + std::to_string(cores) +
            " cores, more threads than that wait for each other";
  }
  return text;
}

/// Returns the name and the version of each library that the program was built with.
inline std::vector<std::pair<std::string, std::string>> versions() {
  return {{"seqtrain", std::string{version}},
          {"torch", TORCH_VERSION},
          {"compiler", __VERSION__},
          {"cxx", std::to_string(__cplusplus)}};
}

/// Keeps freed memory of tensors in the process for the next allocation. Otherwise glibc returns
/// large tensors to the system, which has to find and clear their pages again at every step; this
/// takes a third of the time of a language model with a large vocabulary. The process then keeps
/// its peak of memory. Does nothing with another C library.
inline void keep_freed_memory() noexcept {
#if defined(__GLIBC__)
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, -1);
#endif
}

}  // namespace seqtrain::tensor
