#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_sign.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/optim/by_rule.hpp>
#include <seqtrain/optim/parameter_groups.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::optim {

/// Options of `Lion`. The defaults are the paper's, but for `weight_decay`.
struct LionOptions {
  double lr = 1e-4;  ///< a third to a tenth of AdamW's
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0;    ///< decoupled; three to ten times AdamW's
  LrFactors lr_factors = {};  ///< 1 for parameters that are not named

  void validate() const {
    validate_shared(*this, "lion");
    validate_betas(*this, "lion");
  }
};

/// The rule of Chen et al. 2023, "Symbolic Discovery of Optimization Algorithms", algorithm 2. With
/// the gradient g and the moment m, which begins at 0, a step is
///   value -= lr · (sign(beta1 · m + (1 - beta1) · g) + weight_decay · value)
///   m = beta2 · m + (1 - beta2) · g
struct LionRule {
  using Options = LionOptions;
  Options options;

  [[nodiscard]] StateTensors fresh(const tensor::Parameter& parameter) const {
    return {{"exp_avg", zeros_for(parameter)}};
  }

  void update(const Group<>& group, const Rates& rates) const {
    const auto moments = group.state(0);
    const double beta1 = rates.momentum.value_or(options.beta1);
    auto directions = at::_foreach_lerp(moments, group.gradients, 1 - beta1);
    at::_foreach_sign_(directions);
    group.decay(rates);
    at::_foreach_add_(group.values, directions, -rates.lr);
    at::_foreach_lerp_(moments, group.gradients, 1 - options.beta2);
  }
};

/// Lion, whose state takes 4 bytes for each number.
using Lion = ByRule<LionRule>;

}  // namespace seqtrain::optim
