#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros_like.h>

#include <seqtrain/tensor/row_set.hpp>

namespace seqtrain::tensor {

/// A named tensor of a model. The name is the Hugging Face state_dict key: loading, saving,
/// weight-decay groups and freezing are all questions about names.
struct Parameter {
  std::string name;
  at::Tensor value;
  at::Tensor gradient;  ///< same shape; undefined where the parameter is frozen
  /// The rows that anything has been added to the gradient of since it was zero, but for what
  /// operators have written since; nothing where it may be any of them.
  std::shared_ptr<RowSet> touched = nullptr;
};

/// Lets a parameter's value learn. Returns its gradient, zero, to which autograd adds in place.
inline at::Tensor require_gradient(const at::Tensor& value) {
  at::Tensor gradient = at::zeros_like(value);
  value.set_requires_grad(true);
  value.mutable_grad() = gradient;
  return gradient;
}

/// Counts a change of a value that torch does not count itself: a write through a pointer, or an
/// update by one of its fused optimizers. Autograd and models that keep what they computed from the
/// value see that it has changed.
inline void count_change(const at::Tensor& value) {
  value.unsafeGetTensorImpl()->bump_version();
}

/// Returns a number that grows whenever a change of the value is counted. In-place operators count
/// theirs, those of views included.
[[nodiscard]] inline std::int64_t changes_of(const at::Tensor& value) {
  return value._version();
}

}  // namespace seqtrain::tensor
