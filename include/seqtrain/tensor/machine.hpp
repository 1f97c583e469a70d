#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

#include <c10/core/Device.h>

#include <seqtrain/tensor/device.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::tensor {

/// Sets a program up for the device it names and that many threads on the processor.
inline c10::Device use_machine(std::string_view device, std::int64_t threads) {
  set_threads(static_cast<int>(threads));
  return select_device(device);
}

/// One line for a log: whether CUDA is there, the device, and the threads, with a warning where
/// they are more than the cores.
[[nodiscard]] inline std::string describe(c10::Device device) {
  std::string line = std::string{has_cuda() ? "CUDA is available" : "CUDA is not available"} +
                     ", device: " + c10::DeviceTypeName(device.type(), /*lower_case=*/true) +
                     ", threads: " + std::to_string(threads());
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  if (cores > 0 && threads() > cores) {
    line += "; warning: there are only " + std::to_string(cores) +
            " cores, more threads than that wait for each other";
  }
  return line;
}

}  // namespace seqtrain::tensor
