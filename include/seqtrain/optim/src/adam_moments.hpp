#pragma once

#include <cstddef>
#include <cstdint>

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>

#include <seqtrain/kernels/adam.hpp>
#include <seqtrain/optim/adam_moments.hpp>
#include <seqtrain/optim/by_rule.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::optim {

SEQTRAIN_SEPARATE AdamMoments AdamMoments::fresh(const tensor::Parameter& parameter,
                                                 bool eight_bit) {
  constexpr std::int64_t block = kernels::byte_block;
  const std::int64_t count = parameter.value.numel();
  const auto moments = [&] {
    return eight_bit && count >= 4'096 && count % block == 0 && !parameter.touched
               ? at::zeros({count / block, block + 1}, parameter.value.options().dtype(at::kByte))
               : zeros_for(parameter);
  };
  return {moments(), moments(), no_steps(parameter)};
}

SEQTRAIN_SEPARATE void AdamMoments::find_moving(std::size_t rows) {
  moving.emplace(rows);
  tensor::insert_rows(*moving, exp_avg.logical_or(exp_avg_sq));
}

}  // namespace seqtrain::optim
