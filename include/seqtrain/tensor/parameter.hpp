#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <ATen/core/Tensor.h>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/tensor/loss_scale.hpp>
#include <seqtrain/tensor/row_set.hpp>

namespace seqtrain::tensor {

/// The purpose of a parameter. It decides the initial values of a parameter that a checkpoint
/// lacks, and decoupled weight decay applies to weights and words only.
enum class Role {
  weight,     ///< a matrix or a table
  words,      ///< a table with a row for each id of the vocabulary, of which a batch uses few
  bias,       ///< begins as 0
  scale,      ///< the scale of a normalization; begins as 1
  distances,  ///< added to the scores of attention by the distance of two tokens
};

/// The part of a network that a parameter belongs to, from the input to the output.
struct Depth {
  /// A stretch of the network.
  enum class Part {
    embedding,  ///< before the layers, or used by all of them
    layer,
    head,  ///< after the layers
  };
  Part part = Part::head;
  std::int64_t layer = 0;  ///< the layer's number; layers that share their weights are one

  friend bool operator==(const Depth&, const Depth&) = default;
};

/// A copy of a parameter in the type of products. The model writes it before a forward pass unless
/// it has the parameter's last change, and an optimizer may write it with the parameter.
struct NarrowCopy {
  at::Tensor value;           ///< same shape; contiguous
  std::int64_t changes = -1;  ///< `changes_of` the parameter when the copy was written
};

/// A packed copy of a parameter, which the products of a model on a processor read. The model packs
/// all rows before a forward pass unless the copy has the parameter's last counted change. If
/// `changes` is that of the value, an optimizer may pack all rows, each as soon as it has changed
/// it and while it is in the processor's cache; then it counts the change and sets `changes`.
/// Whoever writes to the value through a pointer or its `data()` counts that change too, or
/// products do not see it.
struct PackedCopy {
  std::size_t rows;  ///< the number of rows that are packed at once; a divisor of the value's rows
  std::function<void(std::size_t row)> pack;  ///< packs the rows from this one on, on any thread
  std::int64_t changes = -1;                  ///< `changes_of` the parameter when it was packed
};

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
  /// The purpose of the parameter. If it is not given, as in a torch::nn::Module, the optimizer
  /// decides by the name whether weight decay applies.
  std::optional<Role> role = {};
  Depth depth = {};
  /// The factor that the gradient has, which all parameters of a model share. Null if it has none.
  std::shared_ptr<LossScale> loss_scale = nullptr;
  /// Tells that the gradient is complete only at the end of a backward pass, although the parameter
  /// comes after those of the layers.
  bool late = false;
  /// The copy that products read. Null if there is none, or if the model does not tell it.
  std::shared_ptr<NarrowCopy> copy = nullptr;
  /// The packed copy that products on a processor read. Null if there is none, or if the model does
  /// not tell it.
  std::shared_ptr<PackedCopy> packed = nullptr;
};

/// Makes a value require a gradient. Returns the gradient, which is zero and to which autograd adds
/// in place.
SEQTRAIN_SEPARATE at::Tensor require_gradient(const at::Tensor& value);

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

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/tensor/src/parameter.hpp>
#endif
