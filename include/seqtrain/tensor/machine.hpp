#pragma once

#include <cstdint>
#include <string_view>

#include <seqtrain/tensor/device.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::tensor {

/// Sets a program up for the device it names and that many threads on the processor.
inline c10::Device use_machine(std::string_view device, std::int64_t threads) {
  set_threads(static_cast<int>(threads));
  return select_device(device);
}

}  // namespace seqtrain::tensor
