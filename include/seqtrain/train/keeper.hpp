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

/// The length and the settings of a fit, which a keeper compares with a saved one.
struct Plan {
  std::int64_t steps = 0;  ///< optimizer steps of the whole run
  Pairs settings = {};     ///< options that determine the result; a resumed fit must have the same
};

/// A fit to continue: its state and the tensors of each owner, which live as long as this object.
/// `tensors` throws `InputError` for an owner that was not saved.
struct SavedFit {
  State state = {};
  std::function<std::span<const weights::TensorView>(std::string_view owner)> tensors = {};
};

/// The moments at which a keeper is asked to save.
enum class Moment {
  step,  ///< between two steps: the keeper saves if a checkpoint is due
  stop,  ///< a stop was requested: the saved fit must be durable on return
  end    ///< training is done: the keeper saves and waits until that is durable or has failed
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
concept Keeper = requires(K& keeper, const Plan& plan, Moment moment, const FitView& fit) {
  { keeper.restore(plan) } -> std::same_as<std::optional<SavedFit>>;
  keeper.save(moment, fit);
};

/// Refers to a keeper of any type, so that the training loop is compiled once. A
/// default-constructed one keeps nothing.
class KeeperRef {
 public:
  KeeperRef() = default;
  template <Keeper K>
  explicit KeeperRef(K& keeper)
      : restore_{[&keeper](const Plan& plan) { return keeper.restore(plan); }},
        save_{[&keeper](Moment moment, const FitView& fit) { keeper.save(moment, fit); }},
        problem_{[&keeper] { return problem_of(keeper); }} {}

  [[nodiscard]] std::optional<SavedFit> restore(const Plan& plan) const {
    return restore_ ? restore_(plan) : std::nullopt;
  }
  void save(Moment moment, const FitView& fit) const {
    if (save_) save_(moment, fit);
  }
  /// Returns why the fit could not be saved, or an empty string.
  [[nodiscard]] std::string problem() const { return problem_ ? problem_() : std::string{}; }

 private:
  template <Keeper K>
  static std::string problem_of(K& keeper) {
    if constexpr (requires { keeper.problem(); }) return std::string{keeper.problem()};
    return {};
  }

  std::function<std::optional<SavedFit>(const Plan&)> restore_;
  std::function<void(Moment, const FitView&)> save_;
  std::function<std::string()> problem_;
};

}  // namespace seqtrain::train
