#pragma once

#include <optional>
#include <string>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/optim/outcome.hpp>
#include <seqtrain/train/options.hpp>

namespace seqtrain::train {

/// Finds out which steps the optimizer did not take because a gradient was not finite. If only a
/// device knows, the answer is read during the next step, so that no step waits for it.
class StepWatch {
 public:
  explicit StepWatch(OnNonfinite policy) : policy_{policy} {}

  /// Takes the outcome of a step. `describe(known)` names the step; it is called only if the step
  /// was not taken, or if only a device knows yet.
  template <class Describe>
  void add(optim::Outcome outcome, const Describe& describe) {
    const bool known = outcome.known();
    if (known && outcome.problem().empty()) return;
    open_ = Open{std::move(outcome), describe(known)};
  }

  /// Tells whether there is an outcome that `settle` can report without waiting.
  [[nodiscard]] bool known() const { return open_ && open_->outcome.known(); }

  /// Waits for the last outcome. Returns the problem of a skipped step, or an empty string if it
  /// was taken. Throws `Error` if the policy is to stop.
  [[nodiscard]] std::string settle() {
    if (!open_) return {};
    Open last = *std::exchange(open_, {});
    if (last.outcome.problem().empty()) return {};
    const std::string problem =
        last.step + ": " + last.outcome.problem() + "; the step was not taken";
    if (policy_ == OnNonfinite::skip) return problem;
    throw Error{problem, {}, "lower the learning rate, or let such steps be skipped"};
  }

 private:
  struct Open {
    optim::Outcome outcome;
    std::string step;
  };

  OnNonfinite policy_;
  std::optional<Open> open_;
};

}  // namespace seqtrain::train
