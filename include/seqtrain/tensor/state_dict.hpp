#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/Event.h>
#include <c10/core/ScalarType.h>

#include <seqtrain/core/separate_compilation.hpp>
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
[[nodiscard]] SEQTRAIN_SEPARATE weights::DType dtype_of(const at::Tensor& tensor,
                                                        const std::string& name);

/// A copy of a tensor in host memory that its device writes while the program continues.
class Arriving {
 public:
  /// Starts the copy. The call does not wait for the device if that has events.
  explicit Arriving(const at::Tensor& tensor);

  /// Tells whether `wait` returns without waiting.
  [[nodiscard]] bool is_there() const { return !event_ || event_->query(); }

  /// Waits for the copy, but not for what the device was asked to do after it.
  [[nodiscard]] const at::Tensor& wait();

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

  explicit StateDict(std::span<const Parameter> parameters);

  void add(const std::string& name, const at::Tensor& value);

  [[nodiscard]] std::span<const weights::TensorView> views() const;

 private:
  /// Queues a copy of a device's tensor to the next free place of pinned memory.
  at::Tensor fetch(const at::Tensor& tensor);

  std::vector<at::Tensor> tensors_;
  std::vector<weights::TensorView> views_;
  at::Tensor free_;                                  // the rest of the last block of pinned memory
  mutable std::optional<c10::Device> arrives_from_;  // until `views` has waited
};

/// Finds the tensors of a saved state by name. Each is taken once.
class SavedTensors {
 public:
  explicit SavedTensors(std::span<const weights::TensorView> tensors);

  /// Tells whether there is a tensor with this name.
  [[nodiscard]] bool has(const std::string& name) const { return tensors_.contains(name); }

  /// Copies a tensor's numbers to `target`. Throws `InputError` if the tensor is missing or has
  /// another shape or type.
  void take(const std::string& name, const at::Tensor& target);

  /// Throws `InputError` if there are tensors that nobody took.
  void check_all_taken() const;

 private:
  std::map<std::string, const weights::TensorView*, std::less<>> tensors_;
};

}  // namespace seqtrain::tensor

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/tensor/src/state_dict.hpp>
#endif
