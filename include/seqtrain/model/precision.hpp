#pragma once

#include <string>
#include <string_view>

#include <c10/core/Device.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/tensor/device.hpp>

namespace seqtrain::model {

/// What the products of an encoder are computed in. Weights, sums and norms are fp32 always.
enum class Precision {
  fp32,
  bf16,
  automatic,  ///< bf16 where the device computes it natively, else fp32
};

[[nodiscard]] inline Precision precision_named(std::string_view name) {
  if (name == "fp32") return Precision::fp32;
  if (name == "bf16") return Precision::bf16;
  if (name == "auto") return Precision::automatic;
  throw InputError{"unknown precision '" + std::string{name} + "'",
                   {.object = "precision"},
                   "use fp32, bf16 or auto"};
}

[[nodiscard]] constexpr std::string_view name(Precision precision) {
  if (precision == Precision::automatic) return "auto";
  return precision == Precision::bf16 ? "bf16" : "fp32";
}

/// Whether the processor multiplies bfloat16 itself rather than by way of fp32.
[[nodiscard]] inline bool has_native_bf16() {
  return kernels::has_bf16_instructions();
}

/// The same of a device.
[[nodiscard]] inline bool has_native_bf16(c10::Device device) {
  return device.is_cpu() ? has_native_bf16() : device.is_cuda() && tensor::cuda_has_bf16();
}

/// What `automatic` means on a device; the others as they are.
[[nodiscard]] inline Precision resolve(Precision precision, c10::Device device) {
  if (precision != Precision::automatic) return precision;
  return has_native_bf16(device) ? Precision::bf16 : Precision::fp32;
}

}  // namespace seqtrain::model
