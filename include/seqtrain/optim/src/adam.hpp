#pragma once

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/rsub.h>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/optim/adam_on_cpu.hpp>
#include <seqtrain/optim/adam_on_device.hpp>
#include <seqtrain/optim/by_rule.hpp>
#include <seqtrain/optim/gradients.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::optim {

SEQTRAIN_SEPARATE void AdamOptions::validate() const {
  validate_shared(*this, "adam");
  validate_betas(*this, "adam");
  const Demand demand{"adam"};
  demand(std::isfinite(eps) && eps >= 0, "eps", "must be a number, not negative");
}

SEQTRAIN_SEPARATE bool AdamRule::runs_on_device(
    std::span<const tensor::Parameter> parameters) const {
  return !options.eight_bit && options.on_device && options.on_device->takes(parameters, options);
}

SEQTRAIN_SEPARATE bool AdamRule::takes_kernels(std::span<const tensor::Parameter> parameters,
                                               bool is_scaled) const {
  if (runs_on_device(parameters)) return true;
  const bool takes = !is_scaled && fits_kernels(parameters);
  if (takes || !options.eight_bit) return takes;
  throw InputError{"8-bit moments need gradients in fp32 on the processor"};
}

SEQTRAIN_SEPARATE Outcome AdamRule::step_by_kernels(std::span<const Trained<AdamMoments>> trained,
                                                    std::span<const tensor::Parameter> parameters,
                                                    double max_grad_norm) const {
  if (runs_on_device(parameters)) {
    return (*options.on_device)(trained, parameters, options, max_grad_norm);
  }
  std::vector<AdamItem> items;
  items.reserve(trained.size());
  for (const auto& each : trained) items.push_back(item_of(each));
  const double norm = gradient_norm(items);
  std::string problem = std::isfinite(norm) ? std::string{} : nonfinite_gradient(parameters);
  if (problem.empty()) {
    const double clip = clip_factor(norm, max_grad_norm);
    for (std::size_t i = 0; i < items.size(); ++i) set_factors(items[i], clip, trained[i].rates);
    optim::update(items);
  }
  for (const AdamItem& item : items) {
    if (!problem.empty()) item.parameter->gradient.zero_();
    if (item.parameter->touched) tensor::forget_touched(*item.parameter);
  }
  Outcome outcome = problem.empty() ? Outcome{} : Outcome::not_taken(std::move(problem));
  return std::move(outcome).with_gradient_norm([norm] { return norm; });
}

SEQTRAIN_SEPARATE void AdamRule::update(const Group<AdamMoments>& group, const Rates& rates,
                                        const at::Tensor& found_inf) const {
  std::vector<at::Tensor> exp_avgs, exp_avg_sqs, steps;
  for (const AdamMoments* moments : group.states) {
    exp_avgs.push_back(moments->exp_avg);
    exp_avg_sqs.push_back(moments->exp_avg_sq);
    steps.push_back(moments->step);
  }
  at::_foreach_add_(steps, at::rsub(found_inf, 1));
  const auto fused = [&](const auto& update) {
    update(group.values, group.gradients, exp_avgs, exp_avg_sqs, at::TensorList{}, steps, rates.lr,
           rates.momentum.value_or(options.beta1), options.beta2, rates.weight_decay, options.eps,
           /*amsgrad=*/false, /*maximize=*/false, /*grad_scale=*/std::nullopt, found_inf);
  };
  if (options.decoupled_weight_decay) {
    fused([](const auto&... arguments) { at::_fused_adamw_(arguments...); });
  } else {
    fused([](const auto&... arguments) { at::_fused_adam_(arguments...); });
  }
}

SEQTRAIN_SEPARATE AdamItem AdamRule::item_of(const Trained<AdamMoments>& trained) {
  const tensor::Parameter& parameter = *trained.parameter;
  AdamMoments& moments = *trained.state;
  if (parameter.touched) {
    tensor::find_touched(parameter);
    if (!moments.moving) moments.find_moving(parameter.touched->rows());
    moments.moving->insert(*parameter.touched);
  }
  const bool all = !parameter.touched || trained.rates.weight_decay != 0;
  return {.parameter = &parameter,
          .moments = &moments,
          .moving = all ? nullptr : &*moments.moving,
          .factors = {}};
}

SEQTRAIN_SEPARATE void AdamRule::set_factors(AdamItem& item, double clip,
                                             const Rates& rates) const {
  const double t = *item.moments->step.mutable_data_ptr<float>() += 1;
  const double beta1 = rates.momentum.value_or(options.beta1);
  auto& factors = item.factors;
  factors.gradient = static_cast<float>(clip);
  factors.new_part1 = static_cast<float>(1 - beta1);
  factors.beta2 = static_cast<float>(options.beta2);
  factors.new_part2 = static_cast<float>(1 - options.beta2);
  factors.step_size = static_cast<float>(rates.lr / (1 - std::pow(beta1, t)));
  factors.root_factor = static_cast<float>(1 / std::sqrt(1 - std::pow(options.beta2, t)));
  factors.eps = static_cast<float>(options.eps);
  if (options.decoupled_weight_decay) {
    factors.kept_value = static_cast<float>(1 - rates.lr * rates.weight_decay);
  } else {
    factors.added_value = static_cast<float>(rates.weight_decay);
  }
}

#ifdef SEQTRAIN_SEPARATE_COMPILATION
template Outcome ByRule<AdamRule>::step(std::span<const tensor::Parameter>, Step);
template tensor::StateDict ByRule<AdamRule>::state() const;
template void ByRule<AdamRule>::load_state(std::span<const weights::TensorView>,
                                           std::span<const tensor::Parameter>);
#endif

}  // namespace seqtrain::optim
