#pragma once

#include <optional>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/Event.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace seqtrain::tensor {

/// A copy of a tensor in host memory that its device writes while the program continues.
class Arriving {
 public:
  /// Starts the copy. The call does not wait for the device.
  explicit Arriving(const at::Tensor& tensor) : host_{tensor} {
    if (tensor.is_cpu()) return;
    const c10::DeviceType type = tensor.device().type();
    const auto options = tensor.options().device(c10::kCPU).pinned_memory(true);
    host_ = at::empty(tensor.sizes(), options);
    host_.copy_(tensor, /*non_blocking=*/true);
    event_.emplace(type);
    event_->record(c10::impl::getDeviceGuardImpl(type)->getStream(tensor.device()));
  }

  /// Tells whether `wait` returns without waiting.
  [[nodiscard]] bool is_there() const { return !event_ || event_->query(); }

  /// Waits for the copy, but not for what the device was asked to do after it.
  [[nodiscard]] const at::Tensor& wait() {
    if (event_ && !event_->query()) event_->synchronize();
    event_.reset();
    return host_;
  }

 private:
  at::Tensor host_;
  std::optional<c10::Event> event_;
};

}  // namespace seqtrain::tensor
