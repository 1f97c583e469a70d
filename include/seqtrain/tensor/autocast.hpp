#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>
#include <c10/macros/Export.h>

// These declarations repeat ATen/autocast_mode.h, which includes all operators and costs seconds in
// every file.
namespace at::autocast {

TORCH_API bool is_autocast_enabled(c10::DeviceType device_type);
TORCH_API void set_autocast_enabled(c10::DeviceType device_type, bool enabled);
TORCH_API c10::ScalarType get_autocast_dtype(c10::DeviceType device_type);
TORCH_API void set_autocast_dtype(c10::DeviceType device_type, c10::ScalarType dtype);
TORCH_API void clear_cache();
TORCH_API int increment_nesting();
TORCH_API int decrement_nesting();

}  // namespace at::autocast

namespace seqtrain::tensor {

/// Turns on torch.autocast on this thread: while the object exists, products on devices of that
/// type have factors and results of the given type, bfloat16 or half. Use it for the forward pass
/// only; the backward pass takes its types from the forward pass. Weights are converted once and
/// the copies are kept until the outermost object ends, so weights must not change before that.
class Autocast {
 public:
  explicit Autocast(c10::DeviceType device, c10::ScalarType type = c10::kBFloat16)
      : device_{device},
        enabled_{at::autocast::is_autocast_enabled(device)},
        dtype_{at::autocast::get_autocast_dtype(device)} {
    at::autocast::set_autocast_enabled(device, true);
    at::autocast::set_autocast_dtype(device, type);
    at::autocast::increment_nesting();
  }

  ~Autocast() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_dtype(device_, dtype_);
    at::autocast::set_autocast_enabled(device_, enabled_);
  }

  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  c10::DeviceType device_;
  bool enabled_;
  c10::ScalarType dtype_;
};

}  // namespace seqtrain::tensor
