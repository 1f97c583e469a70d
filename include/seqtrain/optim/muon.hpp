#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/addmm.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/optim/by_rule.hpp>
#include <seqtrain/optim/parameter_groups.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::optim {

/// Options of `Muon`. Names are torch's.
struct MuonOptions {
  double lr = 1e-3;
  double momentum = 0.95;
  double beta1 = 0.9;         ///< the beta1 of AdamW, for parameters that are no hidden matrices
  double beta2 = 0.999;       ///< as `beta1`
  double eps = 1e-8;          ///< as `beta1`
  double weight_decay = 0;    ///< decoupled
  LrFactors lr_factors = {};  ///< 1 for parameters that are not named

  void validate() const {
    validate_shared(*this, "muon");
    validate_betas(*this, "muon");
    const Demand demand{"muon"};
    demand(momentum >= 0 && momentum < 1, "momentum", "must be at least 0 and below 1");
    demand(std::isfinite(eps) && eps >= 0, "eps", "must be a number, not negative");
  }
};

/// Tells whether a parameter is a matrix of a layer, which `Muon` steps by its own rule.
[[nodiscard]] inline bool is_hidden_matrix(const tensor::Parameter& parameter) {
  return parameter.role == tensor::Role::weight && parameter.value.dim() == 2 &&
         parameter.depth.part == tensor::Depth::Part::layer;
}

/// Returns a matrix near the orthogonal one that is nearest to `matrix`, by five steps of Newton
/// and Schulz's iteration with the coefficients of Jordan 2024. Devices compute it in bfloat16, as
/// torch does, and processors in the matrix's type.
[[nodiscard]] inline at::Tensor orthogonalized(const at::Tensor& matrix) {
  constexpr double a = 3.4445, b = -4.7750, c = 2.0315;
  const bool is_tall = matrix.size(0) > matrix.size(1);
  at::Tensor x = matrix.is_cpu() ? matrix : matrix.to(at::kBFloat16);
  if (is_tall) x = x.t();
  x = x.div(x.norm().clamp_min_(1e-7));
  for (int step = 0; step < 5; ++step) {
    const at::Tensor gram = x.matmul(x.t());
    const at::Tensor polynomial = at::addmm(gram, gram, gram, /*beta=*/b, /*alpha=*/c);
    x = at::addmm(x, polynomial, x, /*beta=*/a);
  }
  return is_tall ? x.t() : x;
}

/// The rule of Jordan 2024, "Muon: An optimizer for hidden layers in neural networks", in the form
/// of torch.optim.Muon with Nesterov's momentum. With the gradient g and the buffer b, which begins
/// at 0, a step of a hidden matrix is
///   b = momentum · b + (1 - momentum) · g
///   u = orthogonalized((1 - momentum) · g + momentum · b)
///   value -= lr · weight_decay · value, then lr · 0.2 · √max(rows, columns) · u
/// The last factor (Liu et al. 2025, "Muon is Scalable for LLM Training", section 2.2) gives
/// updates the size of AdamW's, so one learning rate is good for all parameters. AdamW steps all
/// parameters that are no hidden matrices: embeddings, the head, vectors, and those without a role.
class MuonRule {
 public:
  using Options = MuonOptions;

  Options options;

  [[nodiscard]] StateTensors fresh(const tensor::Parameter& parameter) const {
    if (is_hidden_matrix(parameter)) return {{"momentum_buffer", zeros_for(parameter)}};
    return {{"exp_avg", zeros_for(parameter)},
            {"exp_avg_sq", zeros_for(parameter)},
            {"step", no_steps(parameter)}};
  }

  void update(const Group<>& group, const Rates& rates) const {
    group.decay(rates);
    Group<> others;
    for (std::size_t i = 0; i < group.values.size(); ++i) {
      if (group.states[i]->size() == 1) {
        update_matrix(group.values[i], group.gradients[i], group.states[i]->front().tensor, rates);
      } else {
        others.values.push_back(group.values[i]);
        others.gradients.push_back(group.gradients[i]);
        others.states.push_back(group.states[i]);
      }
    }
    if (!others.values.empty()) update_by_adamw(others, rates);
  }

 private:
  void update_matrix(const at::Tensor& value, const at::Tensor& gradient, const at::Tensor& buffer,
                     const Rates& rates) const {
    const double momentum = rates.momentum.value_or(options.momentum);
    const auto size = static_cast<double>(std::max(value.size(0), value.size(1)));
    buffer.lerp_(gradient, 1 - momentum);
    value.sub_(orthogonalized(gradient.lerp(buffer, momentum)), rates.lr * 0.2 * std::sqrt(size));
  }

  void update_by_adamw(const Group<>& group, const Rates& rates) const {
    const std::vector<at::Tensor> steps = group.state(2);
    at::_foreach_add_(steps, 1);
    at::_fused_adamw_(group.values, group.gradients, group.state(0), group.state(1),
                      at::TensorList{}, steps, rates.lr, rates.momentum.value_or(options.beta1),
                      options.beta2, /*weight_decay=*/0, options.eps, /*amsgrad=*/false,
                      /*maximize=*/false);
  }
};

/// Muon for hidden matrices, and AdamW for all other parameters.
using Muon = ByRule<MuonRule>;

}  // namespace seqtrain::optim
