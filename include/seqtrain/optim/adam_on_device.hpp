#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/cuda/adam_kernel.hpp>
#include <seqtrain/cuda/norm_kernel.hpp>
#include <seqtrain/cuda/squares_kernel.hpp>
#include <seqtrain/optim/adam_moments.hpp>
#include <seqtrain/optim/by_rule.hpp>
#include <seqtrain/tensor/device_kernel.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::optim {

struct AdamOptions;

/// Steps of Adam on a GPU by three kernels of our own, each for all parameters: the squares of the
/// gradients, their norms, and the step itself, which clips the gradients, updates values and
/// moments, sets the gradients to zero and writes the copies in bfloat16 that products read. It
/// does not wait for the device.
class AdamOnDevice {
 public:
  /// Tells whether the environment asks for the kernel `adam` and the device is no processor.
  [[nodiscard]] static bool available(c10::Device device) {
    return !device.is_cpu() && tensor::asks_for_kernel("adam");
  }

  /// Loads the kernels. Throws `Error` if the device cannot run them. `say` gets a sentence if they
  /// cannot be kept for the next process.
  explicit AdamOnDevice(c10::Device device, const std::function<void(const std::string&)>& say = {})
      : device_{device},
        squares_{tensor::load_kernel(cuda::squares_kernel, device, say)},
        norm_{tensor::load_kernel(cuda::norm_kernel, device, say)},
        adam_{tensor::load_kernel(cuda::adam_kernel, device, say)} {}

  /// Returns the object if it is available, the kernels can be loaded and a step of a few numbers
  /// has the right result, else null. `say` gets a sentence if not.
  [[nodiscard]] SEQTRAIN_SEPARATE static std::shared_ptr<AdamOnDevice> make(
      c10::Device device, const std::function<void(const std::string&)>& say);

  /// Tells whether the kernels can work on these tensors, which must be in fp32 and contiguous on
  /// their device, with these options, whose learning rates must fit an argument of a kernel.
  [[nodiscard]] SEQTRAIN_SEPARATE bool takes(std::span<const tensor::Parameter> parameters,
                                             const AdamOptions& options) const;

  /// Takes a step, unless a gradient is not finite.
  SEQTRAIN_SEPARATE Outcome operator()(std::span<const Trained<AdamMoments>> trained,
                                       std::span<const tensor::Parameter> parameters,
                                       const AdamOptions& options, double max_grad_norm);

 private:
  /// The tables of the kernels, on the device. A part is a whole parameter.
  struct Tables {
    std::vector<cuda::AdamChunk> parts;  ///< in host memory, to see whether one has changed
    std::int64_t chunks = 0;
    at::Tensor bytes;
    at::Tensor sums;  ///< of the squares of each chunk
    const cuda::AdamChunk* adam = nullptr;
    const cuda::SquaresChunk* squares = nullptr;
    const cuda::NormPart* norm = nullptr;
  };

  /// Takes a step of a few numbers. Throws `Error` if the result is wrong.
  SEQTRAIN_SEPARATE void try_out();

  /// Makes the tables again if a tensor or a group is another one than in the last step.
  void lay_out(const std::vector<cuda::AdamChunk>& parts, const std::vector<at::Tensor>& steps);

  c10::Device device_;
  std::unique_ptr<const tensor::DeviceKernel> squares_, norm_, adam_;
  Tables tables_;
};

}  // namespace seqtrain::optim

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/optim/src/adam_on_device.hpp>
#endif
