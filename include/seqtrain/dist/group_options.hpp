#pragma once

#include <chrono>
#include <functional>
#include <string>

#include <c10/core/Device.h>

#include <seqtrain/dist/handles.hpp>
#include <seqtrain/dist/world.hpp>

namespace seqtrain::dist {

/// Options of `Group::connect`.
struct GroupOptions {
  /// Name or address of the network interface to use. Empty means the interface of the route to the
  /// master.
  std::string interface {};
  std::chrono::seconds timeout{60};           ///< longest wait for the other ranks to join
  c10::Device device = c10::DeviceType::CPU;  ///< device of the tensors of the operations
  /// Makes the connection for tensors of the device, whose operations' `wait` blocks the device's
  /// current stream. Empty means NCCL for CUDA, and none for other devices.
  std::function<BackendPtr(const StorePtr&, const World&)> connect_device = {};
};

}  // namespace seqtrain::dist
