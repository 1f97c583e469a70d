#pragma once

#include <functional>
#include <string>
#include <utility>

namespace seqtrain::optim {

/// What became of a step. It is not taken where a gradient is not finite: the parameters and the
/// optimizer's state are then as before, and the gradients zero. Where the answer lies on a device
/// it is not known yet, and asking for it waits.
class Outcome {
 public:
  /// The step was taken.
  Outcome() = default;

  /// It was not; `problem` names the gradient.
  static Outcome not_taken(std::string problem) {
    Outcome outcome;
    outcome.problem_ = std::move(problem);
    return outcome;
  }

  /// `ask` waits for the device and returns the problem, empty where there is none.
  static Outcome on_device(std::function<std::string()> ask) {
    Outcome outcome;
    outcome.ask_ = std::move(ask);
    return outcome;
  }

  /// Whether `problem` answers without waiting.
  [[nodiscard]] bool known() const { return !ask_; }

  /// Empty where the step was taken.
  [[nodiscard]] const std::string& problem() {
    if (ask_) problem_ = std::exchange(ask_, {})();
    return problem_;
  }

 private:
  std::string problem_;
  std::function<std::string()> ask_;
};

}  // namespace seqtrain::optim
