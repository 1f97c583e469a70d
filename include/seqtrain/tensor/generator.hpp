#pragma once

#include <cstdint>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <c10/core/Device.h>

namespace seqtrain::tensor {

/// Returns a new random generator on `device`. torch's global generators are not used.
[[nodiscard]] inline at::Generator make_generator(std::uint64_t seed, c10::Device device) {
  if (device.is_cpu()) return at::detail::createCPUGenerator(seed);
  const auto& hooks = at::globalContext().getAcceleratorHooksInterface(device.type());
  at::Generator generator = hooks.getNewGenerator(device.index());
  generator.set_current_seed(seed);
  return generator;
}

}  // namespace seqtrain::tensor
