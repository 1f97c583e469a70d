#pragma once

#include <cstddef>
#include <cstdint>

#include <ATen/core/Tensor.h>

#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/row_set.hpp>

namespace seqtrain::tensor {

/// Adds to the set the rows of a table that are not all zero.
inline void insert_rows(RowSet& set, const at::Tensor& table) {
  const auto rows = static_cast<std::int64_t>(set.rows());
  const at::Tensor any = table.to(at::kBool).view({rows, -1}).any(1).contiguous();
  for (std::size_t row = 0; row < set.rows(); ++row) {
    if (any.const_data_ptr<bool>()[row]) set.insert(row);
  }
}

/// Adds to `parameter.touched` the rows of the gradient that torch's operators have written to,
/// because operators do not report them. The parameter must have the set.
inline void find_touched(const Parameter& parameter) {
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
