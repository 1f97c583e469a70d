#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/train/options.hpp>

namespace seqtrain::train {

/// Thrown when a fit ends because a gradient is not finite.
class NonfiniteGradient : public Error {
 public:
  using Error::Error;
};

/// A step that was skipped because a gradient was not finite.
struct SkippedStep {
  std::int64_t step = 0;  ///< counted from 1 over the whole run
  std::string problem;    ///< names the step and the gradient
};

/// Finds out which steps the optimizer did not take because a gradient was not finite. If only a
/// device knows, the answer is read during a later step, so that no step waits for it. If the loss
/// is scaled, such steps are part of the search for its factor, and they are skipped with either
/// policy; but if gradients are not finite with a factor of 1, no factor helps.
class StepWatch {
 public:
  explicit StepWatch(OnNonfinite policy) : policy_{policy} {}

  /// Takes the outcome of a step. `describe(known)` names the step; it is called only if the step
  /// was not taken, or if only a device knows yet.
  template <class Describe>
  void add(std::int64_t step, optim::Outcome outcome, const Describe& describe) {
    const bool known = outcome.known();
    if (known && outcome.problem().empty()) return;
    open_.push_back({step, std::move(outcome), describe(known)});
  }

  /// Tells whether `settle` has something to do.
  [[nodiscard]] bool open() const { return !open_.empty(); }

  /// Tells whether `settle` should be called: it need not wait, or the device is two steps behind.
  [[nodiscard]] bool due() const {
    return open_.size() > 2 || (open() && open_.front().outcome.known());
  }

  /// Waits for the outcome of the oldest step without one. Returns the step if it was skipped.
  /// Throws `NonfiniteGradient` if the policy is to stop, or if a scaled loss cannot be scaled down
  /// further.
  std::optional<SkippedStep> settle();

 private:
  struct Open {
    std::int64_t step;
    optim::Outcome outcome;
    std::string description;
  };

  OnNonfinite policy_;
  std::deque<Open> open_;
};

}  // namespace seqtrain::train

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/train/src/step_watch.hpp>
#endif
