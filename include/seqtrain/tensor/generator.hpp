#pragma once

#include <cstdint>
#include <mutex>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

namespace seqtrain::tensor {

/// Returns a new random generator on `device`.
[[nodiscard]] inline at::Generator make_generator(std::uint64_t seed, c10::Device device) {
  if (device.is_cpu()) return at::detail::createCPUGenerator(seed);
  const auto& hooks = at::globalContext().getAcceleratorHooksInterface(device.type());
  at::Generator generator = hooks.getNewGenerator(device.index());
  generator.set_current_seed(seed);
  return generator;
}

/// Gives the device's own generator a seed, for operators that take no generator. The end of the
/// object's life gives it back its earlier state. Only one thread may use the generator meanwhile.
class SeededGenerator {
 public:
  SeededGenerator(std::uint64_t seed, c10::Device device)
      : generator_{at::globalContext().defaultGenerator(device)} {
    const std::lock_guard lock{generator_.mutex()};
    before_ = generator_.get_state();
    generator_.set_current_seed(seed);
  }
  ~SeededGenerator() {
    const std::lock_guard lock{generator_.mutex()};
    generator_.set_state(before_);
  }
  SeededGenerator(const SeededGenerator&) = delete;
  SeededGenerator& operator=(const SeededGenerator&) = delete;

 private:
  at::Generator generator_;
  at::Tensor before_;
};

}  // namespace seqtrain::tensor
