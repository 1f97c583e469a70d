#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/kernels/adam.hpp>
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
  static AdamMoments fresh(const tensor::Parameter& parameter, bool eight_bit) {
    constexpr std::int64_t block = kernels::byte_block;
    const std::int64_t count = parameter.value.numel();
    const auto moments = [&] {
      return eight_bit && count >= 4'096 && count % block == 0 && !parameter.touched
                 ? at::zeros({count / block, block + 1}, parameter.value.options().dtype(at::kByte))
                 : zeros_for(parameter);
    };
    return {moments(), moments(), no_steps(parameter)};
  }

  [[nodiscard]] bool eight_bit() const { return exp_avg.scalar_type() == at::kByte; }

  /// Returns the tensors with their names in checkpoints.
  [[nodiscard]] StateTensors tensors() const {
    return {{"exp_avg", exp_avg},
            {eight_bit() ? "exp_avg_sq_root" : "exp_avg_sq", exp_avg_sq},
            {"step", step}};
  }

  /// Finds the rows of a table whose means are not zero, which move without a gradient too.
  void find_moving(std::size_t rows) {
    moving.emplace(rows);
    tensor::insert_rows(*moving, exp_avg.logical_or(exp_avg_sq));
  }
};

/// A parameter on the processor that is to be updated.
struct AdamItem {
  const tensor::Parameter* parameter;
  const AdamMoments* moments;
  const tensor::RowSet* moving;  ///< the rows that the update may change; null for all rows
  kernels::AdamFactors factors;
};

/// Tells whether the kernels can work on these tensors.
[[nodiscard]] inline bool fits_kernels(std::span<const tensor::Parameter> parameters) {
  const auto fits = [](const at::Tensor& t) {
    return t.is_cpu() && t.scalar_type() == at::kFloat && t.is_contiguous();
  };
  return std::ranges::all_of(parameters, [&](const tensor::Parameter& parameter) {
    return !parameter.gradient.defined() || (fits(parameter.value) && fits(parameter.gradient));
  });
}

/// Returns the 2-norm of all gradients as one vector, which does not depend on the number of
/// threads.
[[nodiscard]] SEQTRAIN_SEPARATE double gradient_norm(std::span<const AdamItem> items);

/// Updates values and moments, and sets the gradients to zero.
SEQTRAIN_SEPARATE void update(std::span<const AdamItem> items);

}  // namespace seqtrain::optim

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/optim/src/adam_on_cpu.hpp>
#endif
