#pragma once

#include <cmath>
#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_zero.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/rsub.h>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/kernels/adam.hpp>
#include <seqtrain/optim/adam_on_cpu.hpp>
#include <seqtrain/optim/gradients.hpp>
#include <seqtrain/optim/parameter_groups.hpp>
#include <seqtrain/tensor/loss_scale.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/state_dict.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::optim {

/// Options of `Adam` and `AdamW`. Names and defaults are torch's, but `weight_decay` is 0 by
/// default with AdamW too.
struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  /// If false, weight_decay · value is added to every gradient, as torch's `Adam` does. If true,
  /// the value shrinks by lr · weight_decay, apart from the gradient, as torch's `AdamW` does
  /// (Loshchilov and Hutter 2019); biases and layer normalizations do not decay.
  bool decoupled_weight_decay = false;
  /// If true, the moments of large parameters take one byte each: see `AdamMoments::fresh`. The
  /// gradients must be in fp32 on the processor.
  bool eight_bit = false;
  LrFactors lr_factors = {};  ///< 1 for parameters that are not named

  void validate() const {
    const Demand demand{"adam"};
    demand(std::isfinite(lr) && lr >= 0, "lr", "must be a number, not negative");
    demand(beta1 >= 0 && beta1 < 1, "beta1", "must be at least 0 and below 1");
    demand(beta2 >= 0 && beta2 < 1, "beta2", "must be at least 0 and below 1");
    demand(std::isfinite(eps) && eps >= 0, "eps", "must be a number, not negative");
    demand(std::isfinite(weight_decay) && weight_decay >= 0, "weight_decay",
           "must be a number, not negative");
    for (const auto& [name, factor] : lr_factors) {
      demand(std::isfinite(factor) && factor >= 0, "lr_factors", "must be numbers, not negative");
    }
  }
};

/// The tensors of one fused update, in the order of the parameters.
struct AdamTensors {
  std::vector<at::Tensor> values, gradients, exp_avgs, exp_avg_sqs, steps;
};

/// Adam (Kingma and Ba 2015) with bias correction. Moments are stored by parameter name and begin
/// with a parameter's first gradient, so a parameter may be unfrozen at any step. If the gradients
/// are of a scaled loss, each step also updates the loss scale, which is part of the state.
class Adam {
 public:
  using parameter_type = tensor::Parameter;

  explicit Adam(AdamOptions options = {}) : options_{std::move(options)} { options_.validate(); }

  /// Clips the gradients, applies them with the learning rate lr · step.lr_scale and sets them to
  /// zero. Parameters without a gradient stay as they are. If a gradient is not finite, none is
  /// applied.
  Outcome step(std::span<const tensor::Parameter> parameters, Step step) {
    const at::NoGradGuard no_grad;
    loss_scale_ = parameters.empty() ? nullptr : parameters.front().loss_scale;
    if (fits_kernels(parameters) && !loss_scale_) return step_by_kernels(parameters, step);
    if (!options_.eight_bit) return step_by_operators(parameters, step);
    throw InputError{"8-bit moments need gradients in fp32 on the processor"};
  }

  [[nodiscard]] double learning_rate() const { return options_.lr; }
  [[nodiscard]] const AdamOptions& options() const { return options_; }

  /// Returns the optimizer's state, sorted by name: for a parameter `p` the moments `p.exp_avg` and
  /// `p.exp_avg_sq` (or its root `p.exp_avg_sq_root`, if `p.exp_avg` is of bytes), and its number
  /// of steps `p.step`. With a scaled loss also `loss_scale` and `loss_scale.steps`.
  [[nodiscard]] tensor::StateDict state() const {
    tensor::StateDict state;
    for (const auto& [name, moments] : moments_) {
      state.add(name + ".exp_avg", moments.exp_avg);
      state.add(name + moments.name_of_second(), moments.exp_avg_sq);
      state.add(name + ".step", moments.step);
    }
    if (loss_scale_) {
      state.add("loss_scale", loss_scale_->value);
      state.add("loss_scale.steps", loss_scale_->steps);
    }
    return state;
  }

  /// Copies a state that `state` returned. The tensors may be in any order. Throws `InputError` if
  /// a tensor belongs to no parameter, is missing or has another shape than its parameter.
  void load_state(std::span<const weights::TensorView> state,
                  std::span<const tensor::Parameter> parameters) {
    tensor::SavedTensors saved{state};
    std::map<std::string, AdamMoments, std::less<>> loaded;
    for (const auto& parameter : parameters) {
      if (!saved.has(parameter.name + ".step")) continue;
      auto moments = AdamMoments::fresh(parameter, options_.eight_bit);
      saved.take(parameter.name + ".exp_avg", moments.exp_avg);
      saved.take(parameter.name + moments.name_of_second(), moments.exp_avg_sq);
      saved.take(parameter.name + ".step", moments.step);
      if (parameter.touched && parameter.value.is_cpu()) {
        moments.find_moving(parameter.touched->rows());
      }
      loaded.emplace(parameter.name, moments);
    }
    loss_scale_ = parameters.empty() ? nullptr : parameters.front().loss_scale;
    if (loss_scale_ && saved.has("loss_scale")) {
      saved.take("loss_scale", loss_scale_->value);
      saved.take("loss_scale.steps", loss_scale_->steps);
    }
    saved.check_all_taken();
    moments_ = std::move(loaded);
  }

 private:
  /// The properties that parameters of one fused update share.
  struct Kind {
    double lr_factor;
    bool plain;  ///< weights do not decay

    auto operator<=>(const Kind&) const = default;
  };
  using Groups = std::map<Kind, AdamTensors>;

  AdamMoments& moments_of(const tensor::Parameter& parameter) {
    auto& moments = moments_[parameter.name];
    if (!moments.step.defined()) moments = AdamMoments::fresh(parameter, options_.eight_bit);
    return moments;
  }

  [[nodiscard]] Kind kind_of(const tensor::Parameter& parameter) const {
    const auto factor = options_.lr_factors.find(parameter.name);
    return {factor == options_.lr_factors.end() ? 1 : factor->second,
            options_.decoupled_weight_decay && !decays(parameter)};
  }

  Outcome step_by_kernels(std::span<const tensor::Parameter> parameters, Step step) {
    std::vector<AdamItem> items;
    for (const auto& parameter : parameters) {
      if (parameter.gradient.defined()) items.push_back(item_of(parameter, moments_of(parameter)));
    }
    const double norm = gradient_norm(items);
    std::string problem = std::isfinite(norm) ? std::string{} : nonfinite_gradient(parameters);
    if (problem.empty()) {
      for (AdamItem& item : items) set_factors(item, norm, step);
      optim::update(items);
      for (const AdamItem& item : items) tensor::count_change(item.parameter->value);
    }
    for (const AdamItem& item : items) {
      if (!problem.empty()) item.parameter->gradient.zero_();
      if (item.parameter->touched) tensor::forget_touched(*item.parameter);
    }
    Outcome outcome = problem.empty() ? Outcome{} : Outcome::not_taken(std::move(problem));
    return std::move(outcome).with_gradient_norm([norm] { return norm; });
  }

  AdamItem item_of(const tensor::Parameter& parameter, AdamMoments& moments) const {
    if (parameter.touched) {
      tensor::find_touched(parameter);
      if (!moments.moving) moments.find_moving(parameter.touched->rows());
      moments.moving->insert(*parameter.touched);
    }
    const bool all = !parameter.touched || weight_decay_of(kind_of(parameter)) != 0;
    return {.parameter = &parameter,
            .moments = &moments,
            .moving = all ? nullptr : &*moments.moving,
            .factors = {}};
  }

  /// Counts the step and sets its factors.
  void set_factors(AdamItem& item, double norm, const Step& step) const {
    const Kind kind = kind_of(*item.parameter);
    const double lr = options_.lr * step.lr_scale * kind.lr_factor;
    const double t = *item.moments->step.mutable_data_ptr<float>() += 1;
    const double beta1 = step.momentum.value_or(options_.beta1);
    auto& factors = item.factors;
    factors.gradient = static_cast<float>(clip_factor(norm, step.max_grad_norm));
    factors.new_part1 = static_cast<float>(1 - beta1);
    factors.beta2 = static_cast<float>(options_.beta2);
    factors.new_part2 = static_cast<float>(1 - options_.beta2);
    factors.step_size = static_cast<float>(lr / (1 - std::pow(beta1, t)));
    factors.root_factor = static_cast<float>(1 / std::sqrt(1 - std::pow(options_.beta2, t)));
    factors.eps = static_cast<float>(options_.eps);
    const double weight_decay = weight_decay_of(kind);
    if (options_.decoupled_weight_decay) {
      factors.kept_value = static_cast<float>(1 - lr * weight_decay);
    } else {
      factors.added_value = static_cast<float>(weight_decay);
    }
  }

  [[nodiscard]] double weight_decay_of(const Kind& kind) const {
    return kind.plain ? 0 : options_.weight_decay;
  }

  Outcome step_by_operators(std::span<const tensor::Parameter> parameters, Step step) {
    const Groups groups = gather(parameters);
    if (groups.empty()) return {};
    const Finite finite{parameters};
    finite.clip(step.max_grad_norm);
    for (const auto& [kind, group] : groups) {
      update(group, kind, step, finite.found_inf());
      for (const at::Tensor& value : group.values) tensor::count_change(value);
    }
    at::_foreach_zero_(finite.gradients());
    for (const auto& parameter : parameters) {
      if (parameter.gradient.defined() && parameter.touched) tensor::forget_touched(parameter);
    }
    if (loss_scale_) loss_scale_->update(finite.found_inf());
    return finite.outcome();
  }

  Groups gather(std::span<const tensor::Parameter> parameters) {
    Groups groups;
    for (const auto& parameter : parameters) {
      if (!parameter.gradient.defined()) continue;
      const AdamMoments& moments = moments_of(parameter);
      AdamTensors& tensors = groups[kind_of(parameter)];
      tensors.values.push_back(parameter.value);
      tensors.gradients.push_back(parameter.gradient);
      tensors.exp_avgs.push_back(moments.exp_avg);
      tensors.exp_avg_sqs.push_back(moments.exp_avg_sq);
      tensors.steps.push_back(moments.step);
    }
    return groups;
  }

  /// Counts and takes the step, unless `found_inf` is 1.
  void update(const AdamTensors& t, const Kind& kind, const Step& step,
              const at::Tensor& found_inf) const {
    at::_foreach_add_(t.steps, at::rsub(found_inf, 1));
    const double lr = options_.lr * step.lr_scale * kind.lr_factor;
    const auto fused = [&](const auto& update) {
      update(t.values, t.gradients, t.exp_avgs, t.exp_avg_sqs, at::TensorList{}, t.steps, lr,
             step.momentum.value_or(options_.beta1), options_.beta2, weight_decay_of(kind),
             options_.eps, /*amsgrad=*/false, /*maximize=*/false, /*grad_scale=*/std::nullopt,
             found_inf);
    };
    if (options_.decoupled_weight_decay) {
      fused([](const auto&... arguments) { at::_fused_adamw_(arguments...); });
    } else {
      fused([](const auto&... arguments) { at::_fused_adam_(arguments...); });
    }
  }

  AdamOptions options_;
  std::map<std::string, AdamMoments, std::less<>> moments_;
  std::shared_ptr<tensor::LossScale> loss_scale_;  ///< of the last step's parameters
};

/// `Adam` with decoupled weight decay.
class AdamW : public Adam {
 public:
  explicit AdamW(AdamOptions options = {}) : Adam{decoupled(std::move(options))} {}

 private:
  static AdamOptions decoupled(AdamOptions options) {
    options.decoupled_weight_decay = true;
    return options;
  }
};

}  // namespace seqtrain::optim
