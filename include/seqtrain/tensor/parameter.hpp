#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros_like.h>

#include <seqtrain/core/lists.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/tensor/loss_scale.hpp>
#include <seqtrain/tensor/row_set.hpp>

namespace seqtrain::tensor {

/// A named tensor of a model. The name is the key in the state_dict of Hugging Face's model;
/// loading, saving and freezing use names.
struct Parameter {
  std::string name;
  at::Tensor value;
  at::Tensor gradient;  ///< same shape; undefined if the parameter is frozen
  /// The rows of the gradient that have been written to since it was zero, except writes by torch's
  /// operators on a processor. On a device they are all the rows that operators may have written
  /// to, until `forget_touched`. Null if it may be any row.
  std::shared_ptr<RowSet> touched = nullptr;
  /// Tells whether decoupled weight decay applies. If it has no value, the optimizer decides by the
  /// name.
  std::optional<bool> decays = {};
  /// The factor that the gradient has, which all parameters of a model share. Null if it has none.
  std::shared_ptr<LossScale> loss_scale = nullptr;
  /// Tells that the gradient is complete only at the end of a backward pass, although the parameter
  /// comes after those of the layers.
  bool late = false;
};

/// Returns the number of the layer whose parameter has this name: the first number between dots.
/// Layers of ALBERT that share weights are one. Returns nothing if no layer has the parameter.
[[nodiscard]] inline std::optional<std::int64_t> layer_of(std::string_view name) {
  for (const std::string_view part : split(name, '.')) {
    if (const auto number = parse_number<std::int64_t>(part)) return number;
  }
  return {};
}

/// Makes a value require a gradient. Returns the gradient, which is zero and to which autograd adds
/// in place.
inline at::Tensor require_gradient(const at::Tensor& value) {
  at::Tensor gradient = at::zeros_like(value);
  value.set_requires_grad(true);
  value.mutable_grad() = gradient;
  return gradient;
}

/// Counts a change of a value that torch does not count itself: a write through a pointer, or an
/// update by a fused optimizer. Autograd, and models that keep results computed from the value,
/// notice the change by the count.
inline void count_change(const at::Tensor& value) {
  value.unsafeGetTensorImpl()->bump_version();
}

/// Returns a number that grows with each counted change of the value. In-place operators count
/// their changes, also through views.
[[nodiscard]] inline std::int64_t changes_of(const at::Tensor& value) {
  return value._version();
}

/// Adds to the set the rows of a table that are not all zero.
inline void insert_rows(RowSet& set, const at::Tensor& table) {
  const auto rows = static_cast<std::int64_t>(set.rows());
  const at::Tensor any = table.to(at::kBool).view({rows, -1}).any(1).contiguous();
  for (std::size_t row = 0; row < set.rows(); ++row) {
    if (any.const_data_ptr<bool>()[row]) set.insert(row);
  }
}

/// Adds to `parameter.touched` the rows of the gradient that torch's operators have written to,
/// because operators do not report them. The parameter must have the set. A device is not asked.
inline void find_touched(const Parameter& parameter) {
  if (!parameter.gradient.is_cpu()) return;
  const std::int64_t changes = changes_of(parameter.gradient);
  if (changes == parameter.touched->changes()) return;
  insert_rows(*parameter.touched, parameter.gradient);
  parameter.touched->take_into_account(changes);
}

/// Empties `parameter.touched` after the gradient has been set to zero.
inline void forget_touched(const Parameter& parameter) {
  parameter.touched->clear();
  parameter.touched->take_into_account(changes_of(parameter.gradient));
}

}  // namespace seqtrain::tensor
