#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::train {

/// The progress of a fit. An epoch counts as done only after its evaluation.
struct Position {
  std::int64_t epoch = 0;  ///< epochs done
  std::int64_t batch = 0;  ///< batches of the current epoch that are done
  std::int64_t step = 0;   ///< optimizer steps done

  friend bool operator==(const Position&, const Position&) = default;
};

/// Returns `epoch 1, step 37`, with epochs counted from 1.
inline std::string describe(const Position& position) {
  return "epoch " + std::to_string(position.epoch + 1) + ", step " + std::to_string(position.step);
}

/// The state of a fit without tensors. The order of the data and the dropout masks follow from the
/// seed and the position, so it holds no state of a random generator.
struct State {
  Position position = {};
  std::int64_t skipped_steps = 0;  ///< steps skipped because a gradient was not finite
  std::vector<metrics::ClassificationReport> dev = {};  ///< dev figures after each epoch
  std::int64_t ended = 0;  ///< steps of the run that an observer has ended early, or 0
};

/// A function that takes the tensors of one owner: "model", "optimizer" or "best_model".
using VisitTensors =
    std::function<void(std::string_view owner, std::span<const weights::TensorView> tensors)>;

/// The event before the first step of a fit.
struct FitBegin {
  std::int64_t epochs = 0;
  std::int64_t steps = 0;     ///< optimizer steps of the whole run
  std::int64_t examples = 0;  ///< examples in one epoch
  Position position = {};     ///< the position that training starts from
  std::int64_t batches = 0;   ///< batches of the whole run; 0 if unknown
};

/// Returns NaN, the gradient norm of a step whose optimizer does not compute it.
inline const std::function<double()> unknown_norm = [] {
  return std::numeric_limits<double>::quiet_NaN();
};

/// The event after an optimizer step.
struct StepEnd {
  std::int64_t step = 0;      ///< counted from 1 over the whole run
  std::int64_t steps = 0;     ///< optimizer steps of the whole run
  std::int64_t epoch = 0;     ///< counted from 1
  std::int64_t batch = 0;     ///< batches of this epoch done, including this step's
  std::int64_t batches = 0;   ///< batches of this epoch
  std::int64_t examples = 0;  ///< examples in this step
  std::int64_t tokens = 0;    ///< tokens in this step, without padding
  double learning_rate = 0;
  /// Returns the mean loss over this step's examples. Waits if it is on a device. A copy of this
  /// function may be called after the event.
  const std::function<double()>& loss;
  /// Returns the common 2-norm of this step's gradients before clipping, or NaN if the optimizer
  /// does not compute it. Waits if it is on a device.
  const std::function<double()>& gradient_norm = unknown_norm;
};

/// The event after a step that was skipped because its gradients were not finite. The parameters
/// are unchanged.
struct StepSkipped {
  std::int64_t step = 0;     ///< counted from 1 over the whole run
  std::int64_t skipped = 0;  ///< steps skipped in the run so far
  std::string_view problem;  ///< names the step and the gradient
};

/// The event of a message for people, such as a failed checkpoint or a resumed run.
struct Notice {
  std::string_view text;
  bool warning = false;  ///< something failed, and training goes on
};

/// The event before an evaluation.
struct EvalBegin {
  std::string_view split;  ///< "dev", "test"
  std::int64_t epoch = 0;  ///< epochs done
  std::int64_t step = 0;   ///< optimizer steps done
};

/// The event after a batch of an evaluation.
struct EvalStep {
  std::string_view split;     ///< "dev", "test"
  std::int64_t batch = 0;     ///< batches done
  std::int64_t batches = 0;   ///< batches of the evaluation
  std::int64_t examples = 0;  ///< examples in this batch
  std::int64_t tokens = 0;    ///< tokens in this batch, without padding
};

/// The event after a classifier has answered a batch of an evaluation. The members refer to the
/// batch's memory.
struct EvalPredictions {
  std::string_view split;  ///< "dev", "test"
  ProblemType problem_type = ProblemType::single_label;
  const metrics::Logits& logits;               ///< [rows, labels]
  std::span<const std::int64_t> labels;        ///< [rows], -1 for a row without a label
  std::span<const float> targets = {};         ///< [rows, labels], instead of labels
  std::span<const std::int64_t> row_ids = {};  ///< [rows], indices in the encoded set, if known
  std::span<const double> losses = {};         ///< [rows], NaN for a row without a label; if known
};

/// The event after an evaluation.
struct EvalEnd {
  std::string_view split;
  std::int64_t epoch = 0;  ///< epochs done
  std::int64_t step = 0;   ///< optimizer steps done
  double seconds = 0;
  const metrics::ClassificationReport& report;
};

/// The event after an epoch and its evaluation.
struct EpochEnd {
  std::int64_t epoch = 0;   ///< epochs done
  std::int64_t epochs = 0;  ///< epochs of the whole run
};

/// The event after the last step of a fit.
struct FitEnd {
  std::int64_t step = 0;  ///< optimizer steps done
  double seconds = 0;     ///< time of this call of `fit`
};

/// Stands for an argument that was not given.
struct NoPart {};

/// Returns the first argument whose type has the property, or `NoPart`.
template <template <class> class Property, class First, class... Rest>
decltype(auto) find_part(First& first, Rest&... rest);

/// Returns `NoPart`, because no argument is left.
template <template <class> class Property>
NoPart find_part() {
  return {};
}

template <template <class> class Property, class First, class... Rest>
decltype(auto) find_part(First& first, Rest&... rest) {
  if constexpr (Property<std::remove_const_t<First>>::value) {
    return (first);
  } else {
    return find_part<Property>(rest...);
  }
}

/// Tells whether an observer overloads `on` for an event.
template <class O, class Event>
concept Hears = requires(O& observer, const Event& event) {
  observer.on(event);
};

/// An observer of a fit, which overloads `on` for at least one event.
template <class O>
concept Observer = Hears<O, FitBegin> || Hears<O, StepEnd> || Hears<O, StepSkipped> ||
    Hears<O, EvalBegin> || Hears<O, EvalStep> || Hears<O, EvalPredictions> || Hears<O, EvalEnd> ||
    Hears<O, EpochEnd> || Hears<O, FitEnd> || Hears<O, Notice>;

/// Calls `observer.on(event)` if the observer has that overload.
template <class Event, class O>
void tell(O& observer, const Event& event) {
  if constexpr (Hears<O, Event>) observer.on(event);
}

/// Calls `on(event)` of each observer that has that overload, in order.
template <class Event, class... Observers>
void notify(const Event& event, Observers&... observers) {
  (tell(observers, event), ...);
}

/// An argument of `fit` that may ask to end it: an observer with a `should_stop()`.
template <class P>
concept MayStop = requires(const P& part) {
  { part.should_stop() } -> std::convertible_to<bool>;
};

/// Tells whether an argument of `fit` asks to end it, in this process or in another one of those in
/// which the model learns. All must call it together.
template <class M, class... Parts>
bool should_stop(M& model, const Parts&... parts) {
  if constexpr ((MayStop<Parts> || ...)) {
    const auto asks = [](const auto& part) {
      if constexpr (MayStop<std::remove_cvref_t<decltype(part)>>) return part.should_stop();
      return false;
    };
    const bool any = (asks(parts) || ...);
    if constexpr (requires { model.any_process(any); }) return model.any_process(any);
    return any;
  }
  return false;
}

}  // namespace seqtrain::train
