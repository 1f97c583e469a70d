#pragma once

#include <chrono>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/train/checkpoint_name.hpp>
#include <seqtrain/train/checkpointer.hpp>
#include <seqtrain/train/evaluate.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/train/options.hpp>
#include <seqtrain/train/selection.hpp>
#include <seqtrain/train/step_watch.hpp>

namespace seqtrain::train {

/// Returns the rows of a step's examples as text, such as `rows 3, 17`, or only their number if
/// batches have no `row_ids`. Past 64 rows the text ends with their number.
template <class Batch>
std::string describe_rows(std::span<const Batch> batches) {
  constexpr std::size_t shown = 64;
  std::string text;
  std::size_t count = 0;
  for (const Batch& batch : batches) {
    if constexpr (requires { batch.row_ids; }) {
      for (const auto row : batch.row_ids) {
        if (count++ < shown) text += (text.empty() ? "rows " : ", ") + std::to_string(row);
      }
    } else {
      count += static_cast<std::size_t>(batch.rows);
    }
  }
  if (text.empty()) return std::to_string(count) + " rows";
  return count <= shown ? text : text + ", … (" + std::to_string(count) + " of them)";
}

/// The report that `Trainer::fit` returns.
struct FitReport {
  std::int64_t steps = 0;          ///< optimizer steps of the run, including those before a resume
  std::int64_t epochs = 0;         ///< epochs of the run, including those before a resume
  double seconds = 0;              ///< time of this call of `fit`
  std::int64_t skipped_steps = 0;  ///< steps skipped because a gradient was not finite
  /// Dev figures after each epoch, including epochs before a resume.
  std::vector<metrics::ClassificationReport> dev;
  std::size_t epoch_of_model = 0;  ///< index in `dev` of the epoch whose parameters the model has
  std::string unsaved = {};        ///< why the last checkpoint is not stored; else empty

  /// Returns the `EvalPoint` of an evaluation after this fit.
  [[nodiscard]] EvalPoint point(std::string_view split, std::stop_token stop = {}) const {
    return {.split = split, .epoch = epochs, .step = steps, .stop = std::move(stop)};
  }
};

/// Returns `epoch 1, step 3, loss 0.5, rows 3, 17`; without a loss if it is not given.
template <class B>
std::string describe_step(const Position& position, std::span<const B> batches,
                          std::optional<double> loss) {
  std::string text = describe(position);
  if (loss) text += ", loss " + (std::isnan(*loss) ? "nan" : std::to_string(*loss));
  return text + ", " + describe_rows(batches);
}

/// The state of one call of `Trainer::fit`: its options, how far it is, and the parts that it uses.
/// `Dev` and `Best` are references to a dev loader and a `BestModel`, or `NoPart`.
template <class Dev, class Best>
struct Fit {
  static constexpr bool has_dev = !std::same_as<Dev, NoPart>;
  static constexpr bool has_best = !std::same_as<Best, NoPart>;

  const FitOptions& options;
  RunLength length;
  std::int64_t examples = 0;  ///< examples in one epoch
  Dev dev;
  Best best;
  State state = {};
  StepWatch watch{options.on_nonfinite};
  std::function<double()> gradient_norm = {};  ///< returns the gradient norm of the last step
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

  [[nodiscard]] bool is_done() const {
    if (state.position.batch > 0) return false;  // the epoch is not evaluated yet
    return state.position.step >= length.steps || has_ended() ||
           options.selection().out_of_patience(state.dev, options.early_stopping_patience);
  }

  /// Tells whether an observer has ended this run. A longer run goes on.
  [[nodiscard]] bool has_ended() const { return state.ended == length.steps; }

  /// Asks the observers whether the run ends here, and notes that it does.
  template <class M, class... Parts>
  [[nodiscard]] bool ends(M& model, const Parts&... parts) {
    if (!has_ended() && should_stop(model, parts...)) state.ended = length.steps;
    return has_ended();
  }

  [[nodiscard]] FitPlan plan() const {
    FitPlan plan{.steps = length.steps, .settings = options.settings()};
    plan.settings.emplace_back("examples", std::to_string(examples));
    plan.settings.emplace_back("best_model", keeps_best() ? "true" : "false");
    return plan;
  }

  /// Takes the state of a saved fit. Throws `InputError` if the saved fit is past the end of this
  /// run.
  template <class L>
  void restore(const SavedFit& saved, L& loader) {
    const auto& at = saved.state.position;
    if (at.step > length.steps || at.epoch > length.epochs ||
        at.batch > loader.batches_in(at.epoch)) {
      throw InputError{checkpoint_name(at.step) + " is past the end of this run (" +
                       std::to_string(length.steps) + " steps)"};
    }
    if constexpr (has_best) {
      if (keeps_best() && !saved.state.dev.empty()) best.restore(saved.tensors("best_model"));
    }
    state = saved.state;
  }

  /// Counts a step on these batches. `watch` finds out later whether the optimizer took it.
  template <class B>
  void count_step(std::span<const B> batches, optim::Outcome outcome,
                  const std::function<double()>& loss) {
    ++state.position.step;
    state.position.batch += static_cast<std::int64_t>(batches.size());
    gradient_norm = outcome.gradient_norm();
    watch.add(state.position.step, std::move(outcome), [&](bool known) {
      return describe_step(state.position, batches, known ? std::optional{loss()} : std::nullopt);
    });
  }

  /// Counts a skipped step. The event refers to it.
  [[nodiscard]] StepSkipped count_skip(const SkippedStep& skipped) {
    return {skipped.step, ++state.skipped_steps, skipped.problem};
  }

  /// Evaluates the model on the dev loader, if there is one.
  template <class M, class... Parts>
  void evaluate_dev(M& model, Parts&... parts) {
    if constexpr (has_dev) state.dev.push_back(evaluate(model, dev, dev_point(), parts...));
  }

  /// Ends an epoch that has been evaluated.
  template <class M>
  void end_epoch(const M& model) {
    if constexpr (has_best) best.offer(model, state.dev, options.selection());
    ++state.position.epoch;
    state.position.batch = 0;
  }

  /// Gives the model the parameters of the best epoch, if they are kept.
  template <class M>
  void apply_best(M& model) const {
    if constexpr (has_best) best.apply(model);
  }

  /// Visits the parameters of the best epoch, if they are kept.
  void visit_best(const VisitTensors& visit) const {
    if constexpr (has_best) {
      if (!best.views().empty()) visit("best_model", best.views());
    }
  }

  [[nodiscard]] FitBegin begin_event() const {
    return {length.epochs, length.steps, examples, state.position, length.batches};
  }

  /// Returns the event of a step on these batches. It refers to `loss`.
  template <class B>
  [[nodiscard]] StepEnd step_event(std::span<const B> batches, std::int64_t of, double rate,
                                   const std::function<double()>& loss) const {
    StepEnd event{.step = state.position.step,
                  .steps = length.steps,
                  .epoch = state.position.epoch + 1,
                  .batch = state.position.batch,
                  .batches = of,
                  .learning_rate = rate,
                  .loss = loss,
                  .gradient_norm = gradient_norm};
    for (const B& batch : batches) {
      event.examples += batch.rows;
      event.tokens += batch.tokens();
    }
    return event;
  }

  [[nodiscard]] EvalPoint dev_point() const {
    return {"dev", state.position.epoch + 1, state.position.step, options.stop};
  }
  [[nodiscard]] EpochEnd epoch_event() const { return {state.position.epoch, length.epochs}; }
  [[nodiscard]] FitEnd end_event() const { return {state.position.step, seconds()}; }

  [[nodiscard]] std::string stopped() const {
    return "stopped after step " + std::to_string(state.position.step) + " of " +
           std::to_string(length.steps);
  }

  /// Returns the report of the fit.
  [[nodiscard]] FitReport report(std::string unsaved) const {
    return {.steps = state.position.step,
            .epochs = state.position.epoch,
            .seconds = seconds(),
            .skipped_steps = state.skipped_steps,
            .dev = state.dev,
            .epoch_of_model = epoch_of_model(),
            .unsaved = std::move(unsaved)};
  }

 private:
  [[nodiscard]] bool keeps_best() const {
    if constexpr (has_best) return best.enabled();
    return false;
  }

  [[nodiscard]] std::size_t epoch_of_model() const {
    if (state.dev.empty()) return 0;
    return keeps_best() ? options.selection().best(state.dev) : state.dev.size() - 1;
  }

  [[nodiscard]] double seconds() const {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    return elapsed.count();
  }
};

template <class P>
struct IsLoader : std::bool_constant<Loader<P>> {};
template <class P>
struct IsBestModel : std::is_same<P, BestModel> {};

/// Sets up a fit, which refers to `options` and the parts. Throws `InputError` if the loader has no
/// examples, or if the options need a dev loader or a metric that is not among the arguments.
template <class M, class L, class... Parts>
auto begin_fit(const FitOptions& options, const M& model, L& loader, Parts&... parts) {
  using Dev = decltype(find_part<IsLoader>(parts...));
  using Best = decltype(find_part<IsBestModel>(parts...));
  Fit<Dev, Best> fit{.options = options,
                     .length = run_length(loader, options),
                     .examples = loader.examples(),
                     .dev = find_part<IsLoader>(parts...),
                     .best = find_part<IsBestModel>(parts...)};
  bool needs_dev = options.early_stopping_patience > 0 || !options.metric_for_best_model.empty();
  if constexpr (Fit<Dev, Best>::has_best) {
    fit.best.clear();
    needs_dev = needs_dev || fit.best.enabled();
  }
  if constexpr (Fit<Dev, Best>::has_dev) {
    if (needs_dev) options.selection().check(empty_report(model, parts...));
  } else if (needs_dev) {
    throw InputError{"the best epoch and early stopping need a dev loader", {.object = "fit"}};
  }
  return fit;
}

}  // namespace seqtrain::train
