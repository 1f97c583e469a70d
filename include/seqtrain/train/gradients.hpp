#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <seqtrain/concepts.hpp>
#include <seqtrain/optim/outcome.hpp>
#include <seqtrain/optim/step.hpp>
#include <seqtrain/train/weigh.hpp>

namespace seqtrain::train {

/// The losses of a step's batches with the shares that they have in its mean. They may lie on a
/// device.
template <Model M>
class StepLoss {
 public:
  void add(double share, typename M::loss_type loss) {
    losses_.emplace_back(share, std::move(loss));
  }

  /// Returns the mean over the step. Waits for a device.
  [[nodiscard]] double value() const {
    double sum = 0;
    for (const auto& [share, loss] : losses_) sum += share * static_cast<double>(loss);
    return sum;
  }

 private:
  std::vector<std::pair<double, typename M::loss_type>> losses_;
};

/// Adds the gradients of one step: those of the mean loss over all examples of `batches`.
template <Model M>
StepLoss<M> accumulate(M& model, std::span<const typename M::batch_type> batches) {
  StepLoss<M> losses;
  double whole = 0;
  for (const auto& batch : batches) whole += weight_of(model, batch);
  for (const auto& batch : batches) {
    const double share = weight_of(model, batch) / whole;
    losses.add(share, model.accumulate(batch, share));
  }
  return losses;
}

/// Steps the optimizer. One that returns nothing has taken the step.
template <class O, Model M>
requires OptimizerFor<O, M> optim::Outcome take_step(O& optimizer, M& model,
                                                     const optim::Step& step) {
  if constexpr (std::is_void_v<decltype(optimizer.step(model.parameters(), step))>) {
    optimizer.step(model.parameters(), step);
    return {};
  } else {
    return optimizer.step(model.parameters(), step);
  }
}

}  // namespace seqtrain::train
