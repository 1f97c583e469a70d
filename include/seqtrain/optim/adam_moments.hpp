#pragma once

#include <cstddef>
#include <optional>

#include <ATen/core/Tensor.h>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/optim/by_rule.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/row_set.hpp>

namespace seqtrain::optim {

/// A parameter's moments and number of steps. If the moments take one byte each, they are those of
/// `kernels::AdamBytes`, a row for each block, and `exp_avg_sq` has the roots.
struct AdamMoments {
  at::Tensor exp_avg, exp_avg_sq, step;
  /// The rows that ever had a gradient, if known. Zero moments and a zero gradient leave a row
  /// exactly as it is, except for weight decay.
  std::optional<tensor::RowSet> moving = {};

  /// Returns zero moments. With `eight_bit` they take one byte each, unless the parameter has fewer
  /// than 4,096 numbers or no whole blocks, or tells its touched rows: without weight decay the
  /// others take no memory.
  static AdamMoments fresh(const tensor::Parameter& parameter, bool eight_bit);

  [[nodiscard]] bool eight_bit() const { return exp_avg.scalar_type() == at::kByte; }

  /// Returns the tensors with their names in checkpoints.
  [[nodiscard]] StateTensors tensors() const {
    return {{"exp_avg", exp_avg},
            {eight_bit() ? "exp_avg_sq_root" : "exp_avg_sq", exp_avg_sq},
            {"step", step}};
  }

  /// Finds the rows of a table whose means are not zero, which move without a gradient too.
  void find_moving(std::size_t rows);
};

}  // namespace seqtrain::optim

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/optim/src/adam_moments.hpp>
#endif
