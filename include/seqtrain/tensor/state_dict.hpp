#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <c10/core/ScalarType.h>

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

/// Named tensors in host memory, in order, for the writers in `weights`. Tensors on the processor
/// are not copied.
class StateDict {
 public:
  StateDict() = default;

  explicit StateDict(std::span<const Parameter> parameters) {
    for (const auto& parameter : parameters) add(parameter.name, parameter.value);
  }

  void add(const std::string& name, const at::Tensor& value) {
    const auto& host = tensors_.emplace_back(value.detach().to(at::kCPU).contiguous());
    views_.push_back(
        {.name = name,
         .dtype = dtype_of(host, name),
         .shape = host.sizes().vec(),
         .bytes = {static_cast<const std::byte*>(host.const_data_ptr()), host.nbytes()}});
  }

  [[nodiscard]] std::span<const weights::TensorView> views() const { return views_; }

 private:
  std::vector<at::Tensor> tensors_;
  std::vector<weights::TensorView> views_;
};

/// Finds the tensors of a saved state by name. Each is taken once.
class SavedTensors {
 public:
  explicit SavedTensors(std::span<const weights::TensorView> tensors) {
    for (const auto& tensor : tensors) tensors_.emplace(tensor.name, &tensor);
  }

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
