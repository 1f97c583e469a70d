#pragma once

#include <optional>
#include <string>

#include <c10/core/Device.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/model/precision.hpp>

namespace seqtrain::model {

/// Chooses the passes of an AWD-LSTM: the hand-written passes on a processor, and ATen's operators
/// on other devices and for quasi-recurrent layers.
struct RecurrentPasses {
  Precision precision = Precision::fp32;  ///< fp32, bf16 or automatic
  /// True if ATen's operators compute the passes even if there are hand-written ones.
  bool autograd = false;

  /// Returns the precision of the hand-written passes, or nothing if ATen's operators compute the
  /// passes. Throws `InputError` if the chosen passes do not support the precision.
  [[nodiscard]] std::optional<Precision> by_hand(c10::Device device, bool qrnn) const {
    const bool exist = device.is_cpu() && !qrnn && !autograd;
    if (precision == Precision::int8 || (precision == Precision::bf16 && !exist)) {
      throw InputError{"a recurrent model has no " + std::string{name(precision)} + " here",
                       {.object = "precision"},
                       exist ? "use fp32, bf16 or auto" : "use fp32 or auto"};
    }
    if (!exist) return std::nullopt;
    return resolve(precision, device);
  }
};

}  // namespace seqtrain::model
