#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <seqtrain/concepts/policies.hpp>

namespace seqtrain::train {

/// Returns the weight of a batch in a mean over several batches: `model.weight_of(batch)` if the
/// model has it, else the number of rows.
template <Model M>
double weight_of(const M& model, const typename M::batch_type& batch) {
  if constexpr (requires { model.weight_of(batch); }) return model.weight_of(batch);
  return static_cast<double>(batch.rows);
}

/// Collects the losses of a step's batches, each with its weight in the step's mean. A loss may be
/// on a device.
template <Model M>
class StepLoss {
 public:
  void add(double share, typename M::loss_type loss) {
    losses_.emplace_back(share, std::move(loss));
  }

  /// Returns the mean loss over the step. Waits if a loss is on a device.
  [[nodiscard]] double value() const {
    double sum = 0;
    for (const auto& [share, loss] : losses_) sum += share * static_cast<double>(loss);
    return sum;
  }

 private:
  std::vector<std::pair<double, typename M::loss_type>> losses_;
};

/// A model that adds the gradients of a whole step itself. `accumulate_step` returns the losses of
/// the step, and their `value()` is the mean.
template <class M>
concept AccumulatesSteps = requires(M& model, std::span<const typename M::batch_type> batches) {
  { model.accumulate_step(batches).value() } -> std::convertible_to<double>;
};

/// Adds the gradients of one step, whose loss is the mean of the batches' losses, weighted by
/// `weight_of`.
template <Model M>
auto accumulate(M& model, std::span<const typename M::batch_type> batches) {
  if constexpr (AccumulatesSteps<M>) {
    return model.accumulate_step(batches);
  } else {
    StepLoss<M> losses;
    double whole = 0;
    for (const auto& batch : batches) whole += weight_of(model, batch);
    for (const auto& batch : batches) {
      const double share = weight_of(model, batch) / whole;
      losses.add(share, model.accumulate(batch, share));
    }
    return losses;
  }
}

/// Returns a function that returns the value of a step's losses and keeps them as long.
template <class Losses>
std::function<double()> reader_of(Losses losses) {
  return [kept = std::make_shared<const Losses>(std::move(losses))] { return kept->value(); };
}

/// Calls the optimizer's step and returns its outcome. A step that returns nothing counts as taken.
/// Throws `Error` if the loss is scaled and the outcome has no loss scale.
template <class O, Model M>
requires OptimizerFor<O, M> optim::Outcome take_step(O& optimizer, M& model,
                                                     const optim::Step& step) {
  optim::Outcome outcome;
  if constexpr (std::is_void_v<decltype(optimizer.step(model.parameters(), step))>) {
    optimizer.step(model.parameters(), step);
  } else {
    outcome = optimizer.step(model.parameters(), step);
  }
  if constexpr (requires { model.parameters().front().loss_scale; }) {
    const auto parameters = model.parameters();
    if (!parameters.empty() && parameters.front().loss_scale && !outcome.has_loss_scale()) {
      throw Error{"the optimizer does not divide gradients by their loss scale",
                  {},
                  "use optim::Adam, or train in fp32"};
    }
  }
  return outcome;
}

}  // namespace seqtrain::train
