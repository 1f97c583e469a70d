#pragma once

#include <string>
#include <string_view>

#include <ATen/DeviceAccelerator.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/Device.h>
#include <c10/core/DeviceType.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

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
