#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace seqtrain::optim {

/// The arguments of an optimizer's step.
struct Step {
  double lr_scale = 1;  ///< the schedule's factor on the learning rate
  /// Gradients are scaled down so that their common 2-norm is at most this.
  double max_grad_norm = std::numeric_limits<double>::infinity();
  std::optional<double> momentum = {};  ///< replaces Adam's beta1 in this step
};

/// The outcome of an optimizer step. A step is not taken if a gradient is not finite: the
/// parameters and the optimizer's state stay as they are, and the gradients become zero. If only a
/// device knows the outcome, `problem` waits for it.
class Outcome {
 public:
  /// Makes the outcome of a step that was taken.
  Outcome() = default;

  /// Makes the outcome of a step that was not taken. `problem` names the gradient.
  static Outcome not_taken(std::string problem) {
    Outcome outcome;
    outcome.problem_ = std::move(problem);
    return outcome;
  }

  /// Makes the outcome of a step on a device. `ask` waits for the device and returns the problem,
  /// or an empty string if there is none. `is_there` tells whether it need not wait.
  static Outcome on_device(
      std::function<std::string()> ask, std::function<bool()> is_there = [] { return false; }) {
    Outcome outcome;
    outcome.ask_ = std::move(ask);
    outcome.is_there_ = std::move(is_there);
    return outcome;
  }

  /// Adds the common 2-norm of the step's gradients before they were clipped. `norm` returns it,
  /// and may wait for a device.
  Outcome with_gradient_norm(std::function<double()> norm) && {
    gradient_norm_ = std::move(norm);
    return std::move(*this);
  }

  /// Adds the factor of the loss that the gradients are of. `scale` returns it once `problem` is
  /// known.
  Outcome with_loss_scale(std::function<double()> scale) && {
    loss_scale_ = std::move(scale);
    return std::move(*this);
  }

  /// Tells whether `problem` returns without waiting.
  [[nodiscard]] bool known() const { return !ask_ || is_there_(); }

  /// Returns the reason why the step was not taken, or an empty string if it was.
  [[nodiscard]] const std::string& problem() {
    if (ask_) problem_ = std::exchange(ask_, {})();
    return problem_;
  }

  /// Returns the factor of the loss that the gradients are of, or nothing if it has none. Call it
  /// after `problem`.
  [[nodiscard]] std::optional<double> loss_scale() const {
    return loss_scale_ ? std::optional{loss_scale_()} : std::nullopt;
  }

  /// Returns a function that returns the common 2-norm of the step's gradients before clipping, or
  /// NaN if the optimizer does not compute it. The function may wait for a device.
  [[nodiscard]] const std::function<double()>& gradient_norm() const { return gradient_norm_; }

 private:
  std::string problem_;
  std::function<std::string()> ask_;
  std::function<bool()> is_there_;
  std::function<double()> loss_scale_;
  std::function<double()> gradient_norm_ = [] { return std::numeric_limits<double>::quiet_NaN(); };
};

}  // namespace seqtrain::optim
