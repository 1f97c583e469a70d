#pragma once

#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_mul.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/optim/by_rule.hpp>
#include <seqtrain/optim/parameter_groups.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::optim {

/// Options of `Sgd`. Names and defaults are torch's.
struct SgdOptions {
  double lr = 1e-3;
  double momentum = 0;
  bool nesterov = false;      ///< needs momentum
  double weight_decay = 0;    ///< weight_decay · value is added to every gradient
  LrFactors lr_factors = {};  ///< 1 for parameters that are not named

  void validate() const {
    validate_shared(*this, "sgd");
    const Demand demand{"sgd"};
    demand(momentum >= 0 && momentum < 1, "momentum", "must be at least 0 and below 1");
    demand(!nesterov || momentum > 0, "nesterov", "needs a momentum above 0");
  }
};

/// The rule of torch.optim.SGD, without dampening. With the gradient g, to which weight decay is
/// added, and the buffer b, which begins at 0, a step is
///   b = momentum · b + g
///   value -= lr · b, or with Nesterov's momentum lr · (g + momentum · b)
/// Without momentum there is no buffer, and value -= lr · g.
struct SgdRule {
  using Options = SgdOptions;
  Options options;

  /// Weight decay that is added to the gradient applies to all parameters.
  [[nodiscard]] bool decays(const tensor::Parameter&) const { return true; }

  [[nodiscard]] StateTensors fresh(const tensor::Parameter& parameter) const {
    if (options.momentum == 0) return {};
    return {{"momentum_buffer", zeros_for(parameter)}};
  }

  void update(const Group<>& group, const Rates& rates) const {
    if (rates.weight_decay != 0) {
      at::_foreach_add_(group.gradients, group.values, rates.weight_decay);
    }
    if (options.momentum == 0) return at::_foreach_add_(group.values, group.gradients, -rates.lr);
    const double momentum = rates.momentum.value_or(options.momentum);
    const std::vector<at::Tensor> buffers = group.state(0);
    at::_foreach_mul_(buffers, momentum);
    at::_foreach_add_(buffers, group.gradients);
    if (options.nesterov) at::_foreach_add_(group.gradients, buffers, momentum);
    at::_foreach_add_(group.values, options.nesterov ? group.gradients : buffers, -rates.lr);
  }
};

/// Stochastic gradient descent, with momentum and Nesterov's momentum.
using Sgd = ByRule<SgdRule>;

}  // namespace seqtrain::optim
