#pragma once

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
  /// The rows that anything has been added to the gradient of since it was zero; nothing where it
  /// may be any of them.
  std::shared_ptr<RowSet> touched = nullptr;
};

/// Lets a parameter's value learn. Returns its gradient, zero, to which autograd adds in place.
inline at::Tensor require_gradient(const at::Tensor& value) {
  at::Tensor gradient = at::zeros_like(value);
  value.set_requires_grad(true);
  value.mutable_grad() = gradient;
  return gradient;
}

}  // namespace seqtrain::tensor
