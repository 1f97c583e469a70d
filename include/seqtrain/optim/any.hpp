#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/state_dict.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::optim {

/// Holds an optimizer of any type, for programs that choose it at run time. `make` makes one by its
/// name. A step, and each other member, is one virtual call. The saved state names the optimizer,
/// so that no other one takes it.
class Any {
  using Parameters = std::span<const tensor::Parameter>;
  using Views = std::span<const weights::TensorView>;

  template <class O>
  static constexpr bool is_resumable = requires(O& optimizer, const O& constant, Views state,
                                                Parameters parameters) {
    { constant.state() } -> std::same_as<tensor::StateDict>;
    optimizer.load_state(state, parameters);
  };

 public:
  using parameter_type = tensor::Parameter;

  /// Takes an optimizer and the name that it has in checkpoints. The name may be empty.
  template <class O>
  requires(!std::same_as<O, Any> && Optimizer<O>) explicit Any(O optimizer, std::string name = {})
      : name_{std::move(name)} {
    static_assert(std::same_as<typename O::parameter_type, tensor::Parameter>,
                  "optim::Any holds an optimizer whose parameter_type is tensor::Parameter");
    static_assert(
        is_resumable<O>,
        "optim::Any holds an optimizer that has state() and load_state(state, parameters)");
    if constexpr (is_resumable<O>) optimizer_ = std::make_unique<Holder<O>>(std::move(optimizer));
  }

  Outcome step(Parameters parameters, Step step) { return optimizer_->step(parameters, step); }
  [[nodiscard]] double learning_rate() const { return optimizer_->learning_rate(); }
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Exchanges the parameters' values with their averages if the optimizer keeps some.
  void exchange_averages(Parameters parameters) { optimizer_->exchange_averages(parameters); }

  /// Returns the optimizer's state, and a tensor `optimizer.<name>` if it has a name and a state.
  [[nodiscard]] tensor::StateDict state() const;

  /// Copies a state that `state` returned. Throws `InputError` if it is of an optimizer with
  /// another name, or as the optimizer does.
  void load_state(Views state, Parameters parameters);

 private:
  static constexpr std::string_view marker = "optimizer.";

  void check_name(const std::string& saved) const;

  struct Interface {
    virtual ~Interface() = default;
    virtual Outcome step(Parameters parameters, Step step) = 0;
    [[nodiscard]] virtual double learning_rate() const = 0;
    virtual void exchange_averages(Parameters parameters) = 0;
    [[nodiscard]] virtual tensor::StateDict state() const = 0;
    virtual void load_state(Views state, Parameters parameters) = 0;
  };

  template <class O>
  struct Holder final : Interface {
    explicit Holder(O held) : optimizer{std::move(held)} {}
    Outcome step(Parameters parameters, Step step) override {
      if constexpr (std::is_void_v<decltype(optimizer.step(parameters, step))>) {
        optimizer.step(parameters, step);
        return {};
      } else {
        return optimizer.step(parameters, step);
      }
    }
    [[nodiscard]] double learning_rate() const override { return optimizer.learning_rate(); }
    void exchange_averages(Parameters parameters) override {
      if constexpr (requires { optimizer.exchange_averages(parameters); }) {
        optimizer.exchange_averages(parameters);
      }
    }
    [[nodiscard]] tensor::StateDict state() const override { return optimizer.state(); }
    void load_state(Views state, Parameters parameters) override {
      optimizer.load_state(state, parameters);
    }
    O optimizer;
  };

  std::string name_;
  std::unique_ptr<Interface> optimizer_;
};

}  // namespace seqtrain::optim

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/optim/src/any.hpp>
#endif
