#pragma once

#include <span>

#include <seqtrain/concepts.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/train/selection.hpp>
#include <seqtrain/weights/tensor_copies.hpp>

namespace seqtrain::train {

/// An argument of `Trainer::fit` that makes the model end with the parameters of its best epoch on
/// the dev set. The model must be `Restorable`. Checkpoints hold these parameters too.
class BestModel {
 public:
  /// Creates an argument that does nothing unless `enabled` is true, so that a flag can decide.
  explicit BestModel(bool enabled = true) : enabled_{enabled} {}

  [[nodiscard]] bool enabled() const { return enabled_; }

  /// Copies the model's parameters if the last evaluation in `dev` is the best one.
  template <Restorable M>
  void offer(const M& model, std::span<const metrics::ClassificationReport> dev,
             const Selection& selection) {
    if (!enabled_ || dev.empty() || selection.best(dev) + 1 != dev.size()) return;
    copies_.assign(model.state_dict().views());
  }

  /// Takes the best parameters so far from a checkpoint.
  void restore(std::span<const weights::TensorView> tensors) { copies_.assign(tensors); }

  /// Loads the best parameters into the model, if there are any.
  template <Restorable M>
  void apply(M& model) const {
    if (!copies_.empty()) model.load_state_dict(copies_.views());
  }

  /// Returns the best parameters so far, or none before the first evaluation.
  [[nodiscard]] std::span<const weights::TensorView> views() const { return copies_.views(); }

  /// Forgets the parameters of an earlier fit.
  void clear() { copies_ = {}; }

 private:
  bool enabled_;
  weights::TensorCopies copies_;
};

}  // namespace seqtrain::train
