#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/zeros.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/optim/by_rule.hpp>
#include <seqtrain/optim/parameter_groups.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::optim {

/// Options of `Adafactor`. Names and defaults are torch's.
struct AdafactorOptions {
  double lr = 1e-2;
  double beta2_decay = -0.8;  ///< the second moment's part of step t is new to t^beta2_decay
  double eps = 1e-3;          ///< the least size of a parameter, by which its steps are scaled
  double d = 1;               ///< the largest root mean square of an update before it is scaled
  double weight_decay = 0;    ///< decoupled
  /// If true, a step is lr, but at most 1 / √t, times the root mean square of the parameter. If
  /// false, a step is lr, as transformers' Trainer sets it.
  bool scale_parameter = true;
  LrFactors lr_factors = {};  ///< 1 for parameters that are not named

  void validate() const {
    validate_shared(*this, "adafactor");
    const Demand demand{"adafactor"};
    demand(std::isfinite(beta2_decay) && beta2_decay <= 0, "beta2_decay",
           "must be a number, not positive");
    demand(std::isfinite(eps) && eps >= 0, "eps", "must be a number, not negative");
    demand(std::isfinite(d) && d >= 1, "d", "must be a number, at least 1");
  }
};

/// The rule of Shazeer and Stern 2018, "Adafactor: Adaptive Learning Rates with Sublinear Memory
/// Cost", in the form of torch.optim.Adafactor. The second moment of a matrix is the product of a
/// column R and a row C, which hold means of its squared gradients; that of a vector is whole.
/// Step t of a matrix, where p = t^beta2_decay, and R and C begin at 0, is
///   R = (1 - p) · R + p · (mean of g² over each row), and C alike over each column
///   u = g / √(R · C / mean(R)), divided by max(1, rms(u) / d)
///   value -= lr · weight_decay · value, then α · u with α of `AdafactorOptions::scale_parameter`
class AdafactorRule {
 public:
  using Options = AdafactorOptions;

  Options options;

  [[nodiscard]] StateTensors fresh(const tensor::Parameter& parameter) const {
    const at::Tensor step = no_steps(parameter);
    if (parameter.value.dim() < 2) return {{"variance", zeros_for(parameter)}, {"step", step}};
    std::vector<std::int64_t> row = parameter.value.sizes().vec(), col = row;
    row[row.size() - 1] = 1;
    col[col.size() - 2] = 1;
    return {{"row_var", at::zeros(row, step.options())},
            {"col_var", at::zeros(col, step.options())},
            {"step", step}};
  }

  void update(const Group<>& group, const Rates& rates) const {
    for (std::size_t i = 0; i < group.values.size(); ++i) {
      update(group.values[i], group.gradients[i], *group.states[i], rates);
    }
  }

 private:
  static at::Tensor root_mean_square(const at::Tensor& tensor) {
    const double count = std::max<double>(1, static_cast<double>(tensor.numel()));
    return at::linalg_vector_norm(tensor, 2).div(std::sqrt(count));
  }

  /// Moves the moment `share` of the way to the mean of the squared gradients in a dimension.
  static void add_mean(const at::Tensor& moment, const at::Tensor& gradient, std::int64_t dim,
                       const at::Tensor& share) {
    const at::Tensor norm = at::linalg_vector_norm(gradient, 2, dim, /*keepdim=*/true);
    moment.lerp_(norm.square_().div_(gradient.size(dim)), share);
  }

  void update(const at::Tensor& value, const at::Tensor& gradient, const StateTensors& state,
              const Rates& rates) const {
    const double least = value.scalar_type() == at::kDouble ? 0x1p-52 : 0x1p-23;  // torch's eps1
    const at::Tensor& step = state.back().tensor.add_(1);
    const at::Tensor share = step.pow(options.beta2_decay);
    at::Tensor rate = step.rsqrt().clamp_max_(rates.lr);
    if (options.scale_parameter) {
      rate.mul_(root_mean_square(value).clamp_min_(options.eps));
    } else {
      rate.fill_(rates.lr);
    }
    if (rates.weight_decay != 0) value.mul_(1 - rates.lr * rates.weight_decay);
    at::Tensor estimate;
    if (gradient.dim() < 2) {
      estimate = state[0].tensor.lerp_(gradient.square(), share).clone();
    } else {
      const at::Tensor &row = state[0].tensor, &col = state[1].tensor;
      add_mean(row, gradient, -1, share);
      add_mean(col, gradient, -2, share);
      estimate = row.matmul(col).div_(row.mean(-2, /*keepdim=*/true).clamp_min_(least));
    }
    const at::Tensor change = estimate.clamp_min_(least * least).rsqrt_().mul_(gradient);
    rate.div_(root_mean_square(change).div_(options.d).clamp_min_(1));
    value.sub_(change.mul_(rate));
  }
};

/// Adafactor, whose state takes few bytes: a number for each row and column of a matrix.
using Adafactor = ByRule<AdafactorRule>;

}  // namespace seqtrain::optim
