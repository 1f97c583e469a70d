#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/state_dict.hpp>
#include <seqtrain/weights/dtype.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::tensor {

SEQTRAIN_SEPARATE weights::DType dtype_of(const at::Tensor& tensor, const std::string& name) {
  for (const auto& [type, dtype] : detail::dtypes) {
    if (type == tensor.scalar_type()) return dtype;
  }
  throw InputError{std::string{"files have no type for "} + c10::toString(tensor.scalar_type()),
                   {.object = name}};
}

SEQTRAIN_SEPARATE Arriving::Arriving(const at::Tensor& tensor) : host_{tensor} {
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

SEQTRAIN_SEPARATE const at::Tensor& Arriving::wait() {
  if (event_ && !event_->query()) event_->synchronize();
  event_.reset();
  return host_;
}

SEQTRAIN_SEPARATE StateDict::StateDict(std::span<const Parameter> parameters) {
  for (const auto& parameter : parameters) add(parameter.name, parameter.value);
}

SEQTRAIN_SEPARATE void StateDict::add(const std::string& name, const at::Tensor& value) {
  const at::Tensor dense = value.detach().contiguous();
  const auto& host = tensors_.emplace_back(dense.is_cpu() ? dense : fetch(dense));
  views_.push_back(
      {.name = name,
       .dtype = dtype_of(host, name),
       .shape = host.sizes().vec(),
       .bytes = {static_cast<const std::byte*>(host.const_data_ptr()), host.nbytes()}});
}

SEQTRAIN_SEPARATE std::span<const weights::TensorView> StateDict::views() const {
  if (const auto device = std::exchange(arrives_from_, {})) {
    const auto* const guard = c10::impl::getDeviceGuardImpl(device->type());
    const c10::Stream stream = guard->getStream(*device);
    if (!guard->queryStream(stream)) guard->synchronizeStream(stream);
  }
  return views_;
}

SEQTRAIN_SEPARATE at::Tensor StateDict::fetch(const at::Tensor& tensor) {
  constexpr std::int64_t block = 32 << 20, alignment = 64;
  const auto bytes = static_cast<std::int64_t>(tensor.nbytes());
  const std::int64_t taken = (bytes + alignment - 1) & -alignment;
  if (!free_.defined() || free_.numel() < taken) {
    free_ = at::empty({std::max(block, taken)}, at::TensorOptions{at::kByte}.pinned_memory(true));
  }
  const at::Tensor host = free_.narrow(0, 0, bytes).view(tensor.scalar_type()).view(tensor.sizes());
  free_ = free_.narrow(0, taken, free_.numel() - taken);
  arrives_from_ = tensor.device();
  return host.copy_(tensor, /*non_blocking=*/true);
}

SEQTRAIN_SEPARATE SavedTensors::SavedTensors(std::span<const weights::TensorView> tensors) {
  for (const auto& tensor : tensors) tensors_.emplace(tensor.name, &tensor);
}

SEQTRAIN_SEPARATE void SavedTensors::take(const std::string& name, const at::Tensor& target) {
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

SEQTRAIN_SEPARATE void SavedTensors::check_all_taken() const {
  if (tensors_.empty()) return;
  throw InputError{"belongs to no parameter", {.object = tensors_.begin()->first}};
}

}  // namespace seqtrain::tensor
