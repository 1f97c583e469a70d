#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <c10/core/Device.h>
#include <c10/core/Event.h>
#include <c10/core/ScalarType.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/weights/dtype.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::tensor {

namespace detail {

inline constexpr std::array<std::pair<at::ScalarType, weights::DType>, 10> dtypes{
    {{at::kFloat, weights::DType::f32},
     {at::kDouble, weights::DType::f64},
     {at::kHalf, weights::DType::f16},
     {at::kBFloat16, weights::DType::bf16},
     {at::kLong, weights::DType::i64},
     {at::kInt, weights::DType::i32},
     {at::kShort, weights::DType::i16},
     {at::kChar, weights::DType::i8},
     {at::kByte, weights::DType::u8},
     {at::kBool, weights::DType::boolean}}};

}  // namespace detail

/// Returns the type of a tensor's elements in files. Throws `InputError` if files have no such
/// type.
[[nodiscard]] inline weights::DType dtype_of(const at::Tensor& tensor, const std::string& name) {
  for (const auto& [type, dtype] : detail::dtypes) {
    if (type == tensor.scalar_type()) return dtype;
  }
  throw InputError{std::string{"files have no type for "} + c10::toString(tensor.scalar_type()),
                   {.object = name}};
}

/// A copy of a tensor in host memory that its device writes while the program continues.
class Arriving {
 public:
  /// Starts the copy. The call does not wait for the device if that has events.
  explicit Arriving(const at::Tensor& tensor) : host_{tensor} {
    if (tensor.is_cpu()) return;
    const c10::DeviceType type = tensor.device().type();
    const auto options = tensor.options().device(c10::kCPU).pinned_memory(true);
    host_ = at::empty(tensor.sizes(), options);
    host_.copy_(tensor, /*non_blocking=*/true);
    try {
      event_.emplace(type);
      event_->record(c10::impl::getDeviceGuardImpl(type)->getStream(tensor.device()));
    } catch (const c10::Error&) {  // the device has no events
      event_.reset();
      host_.copy_(tensor);
    }
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

/// Named tensors in host memory, in order, for the writers in `weights`. Tensors on the processor
/// are not copied. For those on a device `add` queues copies to pinned memory, which LibTorch keeps
/// for the next ones; `views` waits once for all that are queued, also by other objects.
class StateDict {
 public:
  StateDict() = default;

  explicit StateDict(std::span<const Parameter> parameters) {
    for (const auto& parameter : parameters) add(parameter.name, parameter.value);
  }

  void add(const std::string& name, const at::Tensor& value) {
    const at::Tensor dense = value.detach().contiguous();
    const auto& host = tensors_.emplace_back(dense.is_cpu() ? dense : fetch(dense));
    views_.push_back(
        {.name = name,
         .dtype = dtype_of(host, name),
         .shape = host.sizes().vec(),
         .bytes = {static_cast<const std::byte*>(host.const_data_ptr()), host.nbytes()}});
  }

  [[nodiscard]] std::span<const weights::TensorView> views() const {
    if (const auto device = std::exchange(arrives_from_, {})) {
      const auto* const guard = c10::impl::getDeviceGuardImpl(device->type());
      const c10::Stream stream = guard->getStream(*device);
      if (!guard->queryStream(stream)) guard->synchronizeStream(stream);
    }
    return views_;
  }

 private:
  /// Queues a copy of a device's tensor to the next free place of pinned memory.
  at::Tensor fetch(const at::Tensor& tensor) {
    constexpr std::int64_t block = 32 << 20, alignment = 64;
    const auto bytes = static_cast<std::int64_t>(tensor.nbytes());
    const std::int64_t taken = (bytes + alignment - 1) & -alignment;
    if (!free_.defined() || free_.numel() < taken) {
      free_ = at::empty({std::max(block, taken)}, at::TensorOptions{at::kByte}.pinned_memory(true));
    }
    const at::Tensor host =
        free_.narrow(0, 0, bytes).view(tensor.scalar_type()).view(tensor.sizes());
    free_ = free_.narrow(0, taken, free_.numel() - taken);
    arrives_from_ = tensor.device();
    return host.copy_(tensor, /*non_blocking=*/true);
  }

  std::vector<at::Tensor> tensors_;
  std::vector<weights::TensorView> views_;
  at::Tensor free_;                                  // the rest of the last block of pinned memory
  mutable std::optional<c10::Device> arrives_from_;  // until `views` has waited
};

/// Finds the tensors of a saved state by name. Each is taken once.
class SavedTensors {
 public:
  explicit SavedTensors(std::span<const weights::TensorView> tensors) {
    for (const auto& tensor : tensors) tensors_.emplace(tensor.name, &tensor);
  }

  /// Tells whether there is a tensor with this name.
  [[nodiscard]] bool has(const std::string& name) const { return tensors_.contains(name); }

  /// Copies a tensor's numbers to `target`. Throws `InputError` if the tensor is missing or has
  /// another shape or type.
  void take(const std::string& name, const at::Tensor& target) {
    const auto found = tensors_.extract(name);
    if (!found) throw InputError{"missing", {.object = name}};
    const weights::TensorView& saved = *found.mapped();
    const weights::DType dtype = dtype_of(target, name);
    if (saved.dtype != dtype || at::IntArrayRef{saved.shape} != target.sizes()) {
      throw InputError{"is a tensor of " + std::string{weights::name(saved.dtype)} + " and shape " +
                           weights::to_string(saved.shape) + ", expected " +
                           weights::to_string(target.sizes().vec()) + " of " +
                           std::string{weights::name(dtype)},
                       {.object = name}};
    }
    const at::NoGradGuard no_gradients;
    const at::Tensor host = at::empty(target.sizes(), target.options().device(at::kCPU));
    std::memcpy(host.mutable_data_ptr(), saved.bytes.data(), host.nbytes());
    target.copy_(host);
  }

  /// Throws `InputError` if there are tensors that nobody took.
  void check_all_taken() const {
    if (tensors_.empty()) return;
    throw InputError{"belongs to no parameter", {.object = tensors_.begin()->first}};
  }

 private:
  std::map<std::string, const weights::TensorView*, std::less<>> tensors_;
};

}  // namespace seqtrain::tensor
