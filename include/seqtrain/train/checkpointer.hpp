#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <seqtrain/train/events.hpp>
#include <seqtrain/train/pairs.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::train {

/// The length and the settings of a fit, which a checkpointer compares with a saved one.
struct FitPlan {
  std::int64_t steps = 0;  ///< optimizer steps of the whole run
  Pairs settings = {};     ///< options that determine the result; a resumed fit must have the same
};

/// A fit to continue: its state and the tensors of each owner, which live as long as this object.
/// `tensors` throws `InputError` for an owner that was not saved.
struct SavedFit {
  State state = {};
  std::function<std::span<const weights::TensorView>(std::string_view owner)> tensors = {};
};

/// The moments at which a checkpointer is asked to save.
enum class Moment {
  step,  ///< between two steps: the checkpointer saves if a checkpoint is due
  stop,  ///< a stop was requested: the saved fit must be durable on return
  end    ///< training is done: the checkpointer saves and waits until that is durable or has failed
};

/// A fit at one moment. `tensors(visit)` calls `visit` with the tensors of each owner, which are
/// valid during that call of `visit`.
struct FitView {
  const State& state;
  const std::function<void(const VisitTensors&)>& tensors;
};

/// An argument of `Trainer::fit` that saves the fit and gives it back. `restore` is called once,
/// before the first step, and returns the fit to continue, if there is one. An exception from
/// `restore` or `save` ends the fit.
template <class K>
concept Checkpointer = requires(K& checkpointer, const FitPlan& plan, Moment moment,
                                const FitView& fit) {
  { checkpointer.restore(plan) } -> std::same_as<std::optional<SavedFit>>;
  checkpointer.save(moment, fit);
};

/// Refers to a checkpointer of any type, so that the training loop is compiled once. A
/// default-constructed one keeps nothing.
class CheckpointerRef {
 public:
  CheckpointerRef() = default;
  template <Checkpointer K>
  explicit CheckpointerRef(K& checkpointer)
      : restore_{[&checkpointer](const FitPlan& plan) { return checkpointer.restore(plan); }},
        save_{
            [&checkpointer](Moment moment, const FitView& fit) { checkpointer.save(moment, fit); }},
        problem_{[&checkpointer] { return problem_of(checkpointer); }} {}

  [[nodiscard]] std::optional<SavedFit> restore(const FitPlan& plan) const {
    return restore_ ? restore_(plan) : std::nullopt;
  }
  void save(Moment moment, const FitView& fit) const {
    if (save_) save_(moment, fit);
  }
  /// Returns why the fit could not be saved, or an empty string.
  [[nodiscard]] std::string problem() const { return problem_ ? problem_() : std::string{}; }

 private:
  template <Checkpointer K>
  static std::string problem_of(K& checkpointer) {
    if constexpr (requires { checkpointer.problem(); }) return std::string{checkpointer.problem()};
    return {};
  }

  std::function<std::optional<SavedFit>(const FitPlan&)> restore_;
  std::function<void(Moment, const FitView&)> save_;
  std::function<std::string()> problem_;
};

}  // namespace seqtrain::train
