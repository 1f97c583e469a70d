#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/optim/gradients.hpp>
#include <seqtrain/optim/parameter_groups.hpp>
#include <seqtrain/tensor/loss_scale.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/state_dict.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::optim {

/// The numbers of one step that the parameters of a group share.
struct Rates {
  double lr = 0;                        ///< times the schedule's factor and the parameters' own
  double weight_decay = 0;              ///< 0 if the parameters do not decay
  std::optional<double> momentum = {};  ///< replaces the rule's momentum, or its beta1

  friend auto operator<=>(const Rates&, const Rates&) = default;
};

/// A tensor of a parameter's state, such as its momentum. Checkpoints name it by the parameter and
/// this name, with a dot between them.
struct StateTensor {
  std::string_view name;
  at::Tensor tensor;
};
/// The state of a parameter that is nothing but tensors.
using StateTensors = std::vector<StateTensor>;

/// Returns zeros of a parameter's shape, for its state.
[[nodiscard]] SEQTRAIN_SEPARATE at::Tensor zeros_for(const tensor::Parameter& parameter);

/// Returns the number of steps that a parameter begins with, a scalar on its device.
[[nodiscard]] SEQTRAIN_SEPARATE at::Tensor no_steps(const tensor::Parameter& parameter);

namespace detail {

/// Multiplies each tensor by a number, in place.
SEQTRAIN_SEPARATE void multiply(at::TensorList tensors, double factor);
/// Sets each tensor to zero.
SEQTRAIN_SEPARATE void set_to_zero(at::TensorList tensors);
/// Gives each tensor its value before a step if `found_inf` is 1. It does not wait for the device.
SEQTRAIN_SEPARATE void restore_if(const at::Tensor& found_inf, at::TensorList before,
                                  std::vector<at::Tensor>& tensors);

}  // namespace detail

/// Parameters that one call of a rule updates, with their gradients and states. A rule changes
/// values and states in place; it may also change the gradients.
template <class State = StateTensors>
struct Group {
  std::vector<at::Tensor> values, gradients;
  std::vector<State*> states;

  /// Returns tensor number `i` of each parameter's state.
  [[nodiscard]] std::vector<at::Tensor> state(std::size_t i) const {
    std::vector<at::Tensor> tensors;
    for (const State* state : states) tensors.push_back((*state)[i].tensor);
    return tensors;
  }

  /// Applies decoupled weight decay: each value shrinks by lr · weight_decay.
  void decay(const Rates& rates) const {
    if (rates.weight_decay != 0) detail::multiply(values, 1 - rates.lr * rates.weight_decay);
  }
};

/// A parameter with a gradient, its state, and the rates of the step.
template <class State>
struct Trained {
  const tensor::Parameter* parameter;
  State* state;
  Rates rates;
};

/// Throws `InputError` unless the options that all rules have are numbers, not negative.
template <class Options>
void validate_shared(const Options& options, std::string_view name) {
  const Demand demand{name};
  const auto is_amount = [](double value) { return value >= 0 && std::isfinite(value); };
  demand(is_amount(options.lr), "lr", "must be a number, not negative");
  demand(is_amount(options.weight_decay), "weight_decay", "must be a number, not negative");
  for (const auto& [parameter, factor] : options.lr_factors) {
    demand(is_amount(factor), "lr_factors", "must be numbers, not negative");
  }
}

/// Throws `InputError` unless the decays of two moments are in range.
template <class Options>
void validate_betas(const Options& options, std::string_view name) {
  const Demand demand{name};
  demand(options.beta1 >= 0 && options.beta1 < 1, "beta1", "must be at least 0 and below 1");
  demand(options.beta2 >= 0 && options.beta2 < 1, "beta2", "must be at least 0 and below 1");
}

/// Options of a rule that has no others.
struct RuleOptions {
  double lr = 1e-3;
  double weight_decay = 0;
  LrFactors lr_factors = {};  ///< 1 for parameters that are not named

  void validate() const { validate_shared(*this, "optimizer"); }
};

namespace detail {

template <class R>
concept HasOptions = std::movable<typename R::Options> && requires(R& rule) {
  { rule.options } -> std::same_as<typename R::Options&>;
  rule.options.validate();
  { rule.options.lr } -> std::convertible_to<double>;
  { rule.options.weight_decay } -> std::convertible_to<double>;
  { rule.options.lr_factors } -> std::convertible_to<LrFactors>;
};

template <class R>
concept HasFresh = requires(const R& rule, const tensor::Parameter& parameter) {
  rule.fresh(parameter);
};

template <class R, class State>
concept SkipsSteps = requires(R& rule, const Group<State>& group, const Rates& rates,
                              const at::Tensor& found_inf) {
  rule.update(group, rates, found_inf);
};

template <class R, class State>
concept HasUpdate = SkipsSteps<R, State> ||
    requires(R& rule, const Group<State>& group, const Rates& rates) {
  rule.update(group, rates);
};

}  // namespace detail

/// An optimizer that follows a rule, which is a class with a few members. The rule has the formula,
/// and this class all else: it clips the gradients, divides them by their loss scale, skips steps
/// whose gradients are not finite, applies learning-rate factors, and saves and loads states. The
/// states are stored by parameter name and begin with a parameter's first gradient, so a parameter
/// may be unfrozen at any step. If the gradients are of a scaled loss, each step also updates the
/// loss scale, which is part of the state.
///
/// `options` of the type `Options` has `lr`, `weight_decay`, `lr_factors` and `validate()`.
/// `fresh(parameter)` returns the state with which a parameter begins. `update(group, rates)` takes
/// a step of a `Group`.
///
/// A rule may have further members. `decays(parameter)` tells whether a parameter decays, in place
/// of `optim::decays`. An `update(group, rates, found_inf)` changes nothing if `found_inf` is 1;
/// without it, values and states are copied before an update on a device, which knows only later
/// whether the step is taken. `takes_kernels(parameters, is_scaled)` tells whether
/// `step_by_kernels(trained, parameters, max_grad_norm)` does the whole step.
template <class R>
class ByRule {
  static_assert(detail::HasOptions<R>,
                "a rule has options with lr, weight_decay, lr_factors and validate()");
  static_assert(detail::HasFresh<R>, "a rule has fresh(parameter) const, which returns its state");

 public:
  using parameter_type = tensor::Parameter;
  using Options = typename R::Options;

  explicit ByRule(Options options = {}) : rule_{std::move(options)} { rule_.options.validate(); }

  /// Clips the gradients, applies them with the learning rate lr · step.lr_scale and sets them to
  /// zero. Parameters without a gradient stay as they are. If a gradient is not finite, none is
  /// applied.
  Outcome step(std::span<const tensor::Parameter> parameters, Step step);

  [[nodiscard]] double learning_rate() const { return rule_.options.lr; }
  [[nodiscard]] const Options& options() const { return rule_.options; }

  /// Returns the optimizer's state, sorted by name: the tensors that the rule keeps for each
  /// parameter, and with a scaled loss `loss_scale` and `loss_scale.steps`.
  [[nodiscard]] tensor::StateDict state() const;

  /// Copies a state that `state` returned. The tensors may be in any order. Throws `InputError` if
  /// a tensor belongs to no parameter, is missing or has another shape than its parameter.
  void load_state(std::span<const weights::TensorView> state,
                  std::span<const tensor::Parameter> parameters);

 private:
  using State = decltype(std::declval<const R&>().fresh(std::declval<const tensor::Parameter&>()));
  static_assert(detail::HasUpdate<R, State>, "a rule has update(group, rates)");

  static std::string key(const std::string& parameter, std::string_view name) {
    return (parameter + ".").append(name);
  }

  static StateTensors tensors_of(const State& state) {
    if constexpr (std::same_as<State, StateTensors>) {
      return state;
    } else {
      return state.tensors();
    }
  }

  [[nodiscard]] Rates rates_of(const tensor::Parameter& parameter, const Step& step) const {
    const auto& options = rule_.options;
    const auto factor = options.lr_factors.find(parameter.name);
    const auto decays = [&] {
      if constexpr (requires { rule_.decays(parameter); }) {
        return rule_.decays(parameter);
      } else {
        return optim::decays(parameter);
      }
    };
    return {.lr = options.lr * step.lr_scale *
                  (factor == options.lr_factors.end() ? 1 : factor->second),
            .weight_decay = decays() ? options.weight_decay : 0,
            .momentum = step.momentum};
  }

  [[nodiscard]] std::vector<Trained<State>> trained(std::span<const tensor::Parameter> parameters,
                                                    const Step& step) {
    std::vector<Trained<State>> all;
    for (const auto& parameter : parameters) {
      if (!parameter.gradient.defined()) continue;
      auto found = states_.find(parameter.name);
      if (found == states_.end()) {
        found = states_.emplace(parameter.name, rule_.fresh(parameter)).first;
      }
      all.push_back({&parameter, &found->second, rates_of(parameter, step)});
    }
    return all;
  }

  Outcome step_by_operators(const std::vector<Trained<State>>& trained,
                            std::span<const tensor::Parameter> parameters, double max_grad_norm) {
    if (trained.empty()) return {};
    const Finite finite{parameters};
    finite.clip(max_grad_norm);
    update(trained, finite.found_inf());
    for (const auto& each : trained) tensor::count_change(each.parameter->value);
    detail::set_to_zero(finite.gradients());
    for (const auto& each : trained) {
      if (each.parameter->touched) tensor::forget_touched(*each.parameter);
    }
    if (loss_scale_) loss_scale_->update(finite.found_inf());
    return finite.outcome();
  }

  /// Takes the step, unless `found_inf` is 1.
  void update(const std::vector<Trained<State>>& trained, const at::Tensor& found_inf) {
    constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
    if constexpr (detail::SkipsSteps<R, State>) {
      for (const auto& [rates, group] : groups(trained, all)) rule_.update(group, rates, found_inf);
    } else if (!found_inf.is_cpu()) {
      constexpr std::int64_t most = 1 << 24;  // so that copies do not fill the device
      for (const auto& [rates, group] : groups(trained, most)) {
        update_unless(found_inf, group, rates);
      }
    } else if (found_inf.item<float>() == 0) {
      // One parameter at a time stays in the processor's cache.
      for (const auto& [rates, group] : groups(trained, 1)) rule_.update(group, rates);
    }
  }

  /// Returns groups of parameters that share their rates. A group has one parameter, or at most
  /// `most` numbers.
  static std::vector<std::pair<Rates, Group<State>>> groups(
      const std::vector<Trained<State>>& trained, std::int64_t most) {
    std::vector<std::pair<Rates, Group<State>>> groups;
    std::map<Rates, std::pair<std::size_t, std::int64_t>> open;  // its group, and the numbers there
    for (const auto& [parameter, state, rates] : trained) {
      const std::int64_t count = parameter->value.numel();
      const auto found = open.find(rates);
      if (found == open.end() || found->second.second > most - count) {
        open[rates] = {groups.size(), 0};
        groups.emplace_back(rates, Group<State>{});
      }
      auto& [index, numbers] = open[rates];
      numbers += count;
      Group<State>& group = groups[index].second;
      group.values.push_back(parameter->value);
      group.gradients.push_back(parameter->gradient);
      group.states.push_back(state);
    }
    return groups;
  }

  /// Updates a group on a device and takes the update back there if `found_inf` is 1.
  void update_unless(const at::Tensor& found_inf, const Group<State>& group, const Rates& rates) {
    std::vector<at::Tensor> changed = group.values;
    for (const State* state : group.states) {
      for (const auto& [name, tensor] : tensors_of(*state)) changed.push_back(tensor);
    }
    std::vector<at::Tensor> before;
    for (const at::Tensor& tensor : changed) before.push_back(tensor.clone());
    rule_.update(group, rates);
    detail::restore_if(found_inf, before, changed);
  }

  R rule_;
  std::map<std::string, State, std::less<>> states_;
  std::shared_ptr<tensor::LossScale> loss_scale_;  ///< that of the last step
};

// They are outside the class so that they are not inline, which compilers instantiate in spite of
// `extern template`.
template <class R>
Outcome ByRule<R>::step(std::span<const tensor::Parameter> parameters, Step step) {
  const at::NoGradGuard no_grad;
  loss_scale_ = parameters.empty() ? nullptr : parameters.front().loss_scale;
  if constexpr (requires { rule_.takes_kernels(parameters, true); }) {
    if (rule_.takes_kernels(parameters, loss_scale_ != nullptr)) {
      return rule_.step_by_kernels(trained(parameters, step), parameters, step.max_grad_norm);
    }
  }
  return step_by_operators(trained(parameters, step), parameters, step.max_grad_norm);
}

template <class R>
tensor::StateDict ByRule<R>::state() const {
  tensor::StateDict state;
  for (const auto& [parameter, kept] : states_) {
    for (const auto& [name, tensor] : tensors_of(kept)) state.add(key(parameter, name), tensor);
  }
  if (loss_scale_) {
    state.add("loss_scale", loss_scale_->value);
    state.add("loss_scale.steps", loss_scale_->steps);
  }
  return state;
}

template <class R>
void ByRule<R>::load_state(std::span<const weights::TensorView> state,
                           std::span<const tensor::Parameter> parameters) {
  tensor::SavedTensors saved{state};
  std::map<std::string, State, std::less<>> loaded;
  for (const auto& parameter : parameters) {
    State fresh = rule_.fresh(parameter);
    const StateTensors tensors = tensors_of(fresh);
    const auto is_saved = [&](const StateTensor& each) {
      return saved.has(key(parameter.name, each.name));
    };
    if (std::ranges::none_of(tensors, is_saved)) continue;
    for (const auto& [name, tensor] : tensors) saved.take(key(parameter.name, name), tensor);
    loaded.emplace(parameter.name, std::move(fresh));
  }
  loss_scale_ = parameters.empty() ? nullptr : parameters.front().loss_scale;
  if (loss_scale_ && saved.has("loss_scale")) {
    saved.take("loss_scale", loss_scale_->value);
    saved.take("loss_scale.steps", loss_scale_->steps);
  }
  saved.check_all_taken();
  states_ = std::move(loaded);
}

}  // namespace seqtrain::optim

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/optim/src/by_rule.hpp>
#endif
