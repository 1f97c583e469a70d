#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::train {

/// Returns the figures of a report by name: the loss; accuracy and macro_f1 if there are labels;
/// micro_f1 if an example may have several; and those in `figures`.
SEQTRAIN_SEPARATE std::vector<metrics::Figure> named_figures(
    const metrics::ClassificationReport& report);

/// Decides which of several evaluations is the best.
struct Selection {
  /// The name of a figure. Empty means accuracy if an example has one label, micro_f1 if it may
  /// have several, and the loss otherwise.
  std::string metric = {};
  /// Tells whether a larger value is better. By default it is, unless the name ends in "loss" or is
  /// "perplexity", or ends in "mean_squared_error" or "mean_absolute_error".
  std::optional<bool> greater_is_better = {};

  /// Returns the name of the figure that decides with this problem type. Without a loss the squared
  /// error decides for regression.
  [[nodiscard]] std::string metric_of(ProblemType type, bool has_loss = true) const;

  /// Tells whether a larger value of the figure is better.
  [[nodiscard]] bool is_greater_better(std::string_view name) const;

  /// Returns the figure that `metric` names, or nothing if the report lacks it.
  [[nodiscard]] std::optional<metrics::Figure> figure(
      const metrics::ClassificationReport& report) const;

  /// Returns a number that is larger for a better evaluation, or NaN if the report lacks the
  /// figure.
  [[nodiscard]] double score(const metrics::ClassificationReport& report) const;

  /// Returns the index of the best evaluation, the first if several are equal. NaN is worse than
  /// any number. `dev` must not be empty.
  [[nodiscard]] std::size_t best(std::span<const metrics::ClassificationReport> dev) const;

  /// Tells whether none of the last `patience` evaluations was better than the best one before
  /// them. Returns false if `patience` is 0.
  [[nodiscard]] bool out_of_patience(std::span<const metrics::ClassificationReport> dev,
                                     std::int64_t patience) const {
    if (patience == 0 || dev.empty()) return false;
    return dev.size() - 1 - best(dev) >= static_cast<std::size_t>(patience);
  }

  /// Throws `InputError` unless `empty`, a report without examples, has a figure of that name.
  void check(const metrics::ClassificationReport& empty) const;
};

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

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/train/src/selection.hpp>
#endif
