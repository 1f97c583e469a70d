#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/tensor/device.hpp>

namespace seqtrain::model {

/// The precision of an encoder's products. Weights that are trained, sums and norms are always
/// fp32.
enum class Precision {
  fp32,
  bf16,
  fp16,       ///< on devices other than a processor; in training the loss is scaled
  int8,       ///< int8 linear layers, for predictions on a processor
  automatic,  ///< bf16 or fp16 if the device computes it natively, else fp32
};

/// The names of the precisions in the order of their enumeration.
inline constexpr std::array<std::string_view, 5> precision_names{"fp32", "bf16", "fp16", "int8",
                                                                 "auto"};

/// Returns the precision with that name. Throws `InputError` if there is none.
[[nodiscard]] inline Precision precision_named(std::string_view name) {
  for (std::size_t i = 0; i < precision_names.size(); ++i) {
    if (precision_names[i] == name) return static_cast<Precision>(i);
  }
  throw InputError{"unknown precision '" + std::string{name} + "'",
                   {.object = "precision"},
                   "use fp32, bf16, fp16, int8 or auto"};
}

/// Returns the name of a precision.
[[nodiscard]] constexpr std::string_view name(Precision precision) {
  return precision_names[static_cast<std::size_t>(precision)];
}

/// Returns the type of the factors of products that ATen's operators compute.
[[nodiscard]] constexpr c10::ScalarType type_of_products(Precision precision) {
  if (precision == Precision::fp16) return c10::kHalf;
  return precision == Precision::bf16 ? c10::kBFloat16 : c10::kFloat;
}

/// Returns the usual name of the type of the numbers, such as `float32`.
[[nodiscard]] constexpr std::string_view dtype_name(Precision precision) {
  if (precision == Precision::int8) return "int8";
  if (precision == Precision::fp16) return "float16";
  return precision == Precision::bf16 ? "bfloat16" : "float32";
}

/// Tells whether a device multiplies bfloat16 natively.
[[nodiscard]] inline bool has_native_bf16(c10::Device device = c10::kCPU) {
  return device.is_cpu() ? kernels::has_bf16_instructions()
                         : tensor::compute_capability(device) >= 80;
}

/// Returns the precision that `automatic` stands for on a device, and any other precision as it is.
/// Throws `InputError` if it is fp16 and the device is a processor.
[[nodiscard]] inline Precision resolve(Precision precision, c10::Device device) {
  if (precision == Precision::fp16 && device.is_cpu()) {
    throw InputError{"fp16 is for GPUs, and this device is a processor",
                     {.object = "precision"},
                     "use fp32, bf16 or auto"};
  }
  if (precision != Precision::automatic) return precision;
  if (has_native_bf16(device)) return Precision::bf16;
  return tensor::compute_capability(device) >= 70 ? Precision::fp16 : Precision::fp32;
}

}  // namespace seqtrain::model
