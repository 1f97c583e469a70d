#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/scalar_tensor.h>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/state_dict.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::optim {

/// An optimizer that also keeps a moving average of every trained parameter (Polyak and Juditsky
/// 1992). `Trainer` evaluates with the averages and ends with them. Step t, counted from 1, sets an
/// average to d · average + (1 - d) · value, where d is the smaller of `decay` and
/// (1 + t) / (10 + t), so that the values of the first steps soon lose their weight. An average
/// begins with the value after the parameter's first step, and a fit that follows another begins
/// anew. A step that is not taken counts too.
template <class O>
class Averaged {
 public:
  using parameter_type = tensor::Parameter;

  /// Takes the optimizer. A decay of 0 keeps no averages. Throws `InputError` unless it is at least
  /// 0 and below 1.
  Averaged(O optimizer, double decay) : optimizer_{std::move(optimizer)}, decay_{decay} {
    Demand{"averaged"}(decay >= 0 && decay < 1, "decay", "must be at least 0 and below 1");
  }

  Outcome step(std::span<const tensor::Parameter> parameters, Step step) {
    Outcome outcome = optimizer_.step(parameters, step);
    if (exchanged_) forget();
    if (decay_ > 0) update(parameters);
    return outcome;
  }

  [[nodiscard]] double learning_rate() const { return optimizer_.learning_rate(); }

  /// Exchanges the values of the parameters with their averages, if there are any.
  void exchange_averages(std::span<const tensor::Parameter> parameters) {
    const at::NoGradGuard no_grad;
    exchanged_ = !exchanged_;
    for (const auto& parameter : parameters) {
      const auto found = averages_.find(parameter.name);
      if (found == averages_.end()) continue;
      const at::Tensor value = parameter.value.clone();
      parameter.value.copy_(found->second);
      found->second.copy_(value);
    }
  }

  /// Returns the optimizer's state, the average `p.average` of each parameter `p`, and the number
  /// of steps `average.steps`.
  [[nodiscard]] tensor::StateDict state() const {
    tensor::StateDict state = optimizer_.state();
    for (const auto& [name, average] : averages_) state.add(name + ".average", average);
    if (steps_ > 0) state.add("average.steps", at::scalar_tensor(steps_, at::kDouble));
    return state;
  }

  /// Copies a state that `state` returned. Throws `InputError` as the optimizer does.
  void load_state(std::span<const weights::TensorView> state,
                  std::span<const tensor::Parameter> parameters) {
    std::vector<weights::TensorView> own, others;
    for (const auto& view : state) {
      const bool is_own = view.name.ends_with(".average") || view.name == "average.steps";
      (is_own ? own : others).push_back(view);
    }
    tensor::SavedTensors saved{own};
    std::map<std::string, at::Tensor, std::less<>> averages;
    for (const auto& parameter : parameters) {
      if (!saved.has(parameter.name + ".average")) continue;
      at::Tensor& average = averages[parameter.name] = parameter.value.detach().clone();
      saved.take(parameter.name + ".average", average);
    }
    const at::Tensor steps = at::scalar_tensor(0, at::kDouble);
    if (!averages.empty()) saved.take("average.steps", steps);
    saved.check_all_taken();
    optimizer_.load_state(others, parameters);
    averages_ = std::move(averages);
    steps_ = steps.template item<double>();
    exchanged_ = false;
  }

 private:
  void forget() {
    averages_.clear();
    steps_ = 0;
    exchanged_ = false;
  }

  void update(std::span<const tensor::Parameter> parameters) {
    const at::NoGradGuard no_grad;
    ++steps_;
    std::vector<at::Tensor> averages, values;
    for (const auto& parameter : parameters) {
      if (!parameter.gradient.defined()) continue;
      at::Tensor& average = averages_[parameter.name];
      if (!average.defined()) average = parameter.value.detach().clone();
      averages.push_back(average);
      values.push_back(parameter.value);
    }
    if (values.empty()) return;
    at::_foreach_lerp_(averages, values, 1 - std::min(decay_, (1 + steps_) / (10 + steps_)));
  }

  O optimizer_;
  double decay_;
  double steps_ = 0;
  bool exchanged_ = false;                                   ///< the parameters have the averages
  std::map<std::string, at::Tensor, std::less<>> averages_;  ///< by the parameter's name
};

}  // namespace seqtrain::optim
