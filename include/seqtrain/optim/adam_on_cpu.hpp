#pragma once

#include <algorithm>
#include <span>

#include <ATen/core/Tensor.h>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/kernels/adam.hpp>
#include <seqtrain/optim/adam_moments.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/row_set.hpp>

namespace seqtrain::optim {

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

/// Updates values and moments, sets the gradients to zero, and packs what models pack of the
/// values. Counts the changes of the values.
SEQTRAIN_SEPARATE void update(std::span<const AdamItem> items);

}  // namespace seqtrain::optim

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/optim/src/adam_on_cpu.hpp>
#endif
