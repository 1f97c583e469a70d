#pragma once

#include <string>
#include <string_view>

#include <c10/core/Device.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/int8.hpp>
#include <seqtrain/tensor/device.hpp>

namespace seqtrain::model {

/// The precision of an encoder's products. Weights, sums and norms are always fp32.
enum class Precision {
  fp32,
  bf16,
  int8,       ///< int8 linear maps, for predictions on a processor
  automatic,  ///< bf16 if the device computes it natively, else fp32
};

[[nodiscard]] inline Precision precision_named(std::string_view name) {
  if (name == "fp32") return Precision::fp32;
  if (name == "bf16") return Precision::bf16;
  if (name == "int8") return Precision::int8;
  if (name == "auto") return Precision::automatic;
  throw InputError{"unknown precision '" + std::string{name} + "'",
                   {.object = "precision"},
                   "use fp32, bf16, int8 or auto"};
}

[[nodiscard]] constexpr std::string_view name(Precision precision) {
  switch (precision) {
    case Precision::bf16:
      return "bf16";
    case Precision::int8:
      return "int8";
    case Precision::automatic:
      return "auto";
    default:
      return "fp32";
  }
}

/// Returns the usual name of the type of the numbers, such as `float32`.
[[nodiscard]] constexpr std::string_view dtype_name(Precision precision) {
  if (precision == Precision::int8) return "int8";
  return precision == Precision::bf16 ? "bfloat16" : "float32";
}

/// Tells whether the processor has an instruction that multiplies bytes and adds their products.
[[nodiscard]] inline bool has_native_int8() {
  return kernels::has_int8_instructions();
}

/// Tells whether the processor multiplies bfloat16 natively.
[[nodiscard]] inline bool has_native_bf16() {
  return kernels::has_bf16_instructions();
}

/// Tells whether a device multiplies bfloat16 natively.
[[nodiscard]] inline bool has_native_bf16(c10::Device device) {
  return device.is_cpu() ? has_native_bf16() : device.is_cuda() && tensor::cuda_has_bf16();
}

/// Returns the precision that `automatic` stands for on a device, and any other precision as it is.
[[nodiscard]] inline Precision resolve(Precision precision, c10::Device device) {
  if (precision != Precision::automatic) return precision;
  return has_native_bf16(device) ? Precision::bf16 : Precision::fp32;
}

}  // namespace seqtrain::model
