#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <seqtrain/concepts.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/optim/outcome.hpp>
#include <seqtrain/sink/publish.hpp>
#include <seqtrain/train/evaluate.hpp>
#include <seqtrain/train/fits.hpp>
#include <seqtrain/train/observe.hpp>
#include <seqtrain/train/options.hpp>
#include <seqtrain/train/rows.hpp>
#include <seqtrain/train/run_length.hpp>
#include <seqtrain/train/state.hpp>
#include <seqtrain/train/stopped.hpp>
#include <seqtrain/train/weigh.hpp>
#include <seqtrain/weights/tensor_copies.hpp>

namespace seqtrain {

namespace train {

/// What `Trainer::fit` leaves: how far it came, and the dev set's figures after each epoch.
struct FitReport {
  std::int64_t steps = 0;
  std::int64_t epochs = 0;
  double seconds = 0;
  std::int64_t skipped_steps = 0;                  ///< whose gradients were not finite
  std::vector<metrics::ClassificationReport> dev;  ///< those of a run gone on with included
  std::size_t epoch_of_model = 0;  ///< whose parameters the model has: an index of `dev`
};

}  // namespace train

/// Fits a model. The four policies are values and are owned by the trainer; anything that satisfies
/// the concepts in concepts.hpp will do. The batches of an epoch come from the loader, the
/// gradients from the model, the change of the parameters from the optimizer; what a run leaves
/// behind goes to the sink.
template <class M, class O, class L, class S>
class Trainer {
  static_assert(train::fits<M, O, L, S>());

 public:
  using model_type = M;
  using optimizer_type = O;
  using loader_type = L;
  using sink_type = S;

  Trainer(M model, O optimizer, L loader, S sink)
      : model_{std::move(model)},
        optimizer_{std::move(optimizer)},
        loader_{std::move(loader)},
        sink_{std::move(sink)} {}

  /// Trains, telling each observer what happens; `train::Checkpoints` among them saves the fit and
  /// takes it up again. Throws `InputError` on options out of range, `train::Stopped` where
  /// `options.stop` is requested, `Error` on gradients that are not finite, and whatever a policy
  /// or an observer throws.
  template <class... Observers>
  requires(!(Loader<std::remove_cvref_t<Observers>> || ...)) train::FitReport
      fit(const train::FitOptions& options, Observers&&... observers) {
    return run(
        options, [] {}, observers...);
  }

  /// As above, and evaluates on `dev` after each epoch.
  template <class D, class... Observers>
  requires Loader<std::remove_cvref_t<D>> train::FitReport fit(const train::FitOptions& options,
                                                               D&& dev, Observers&&... observers) {
    const auto evaluate_dev = [&] {
      state_.dev.push_back(
          stoppable([&] { return train::evaluate(model_, dev, point("dev", 1), observers...); },
                    observers...));
    };
    return run(options, evaluate_dev, observers...);
  }

  /// Runs the model over a loader's examples without training. Throws `train::Stopped` where the
  /// stop that the last fit was given is requested.
  template <class D, class... Observers>
  metrics::ClassificationReport evaluate(D&& loader, std::string_view split,
                                         Observers&&... observers) {
    return stoppable([&] { return train::evaluate(model_, loader, point(split, 0), observers...); },
                     observers...);
  }

  /// Puts files and directories of `directory` into the sink, under `prefix`, and a manifest last:
  /// see `sink::publish`. Throws `train::Stopped` between two files where the stop that the last
  /// fit was given is requested.
  template <class... Observers>
  void publish(const std::filesystem::path& directory, const std::vector<std::string>& names,
               const std::string& prefix, Observers&&... observers) {
    stoppable(
        [&] {
          sink::publish(sink_, directory, names, prefix, [this] {
            if (options_.stop.stop_requested()) throw train::Stopped{"stopped while publishing"};
          });
        },
        observers...);
  }

  [[nodiscard]] M& model() { return model_; }
  [[nodiscard]] O& optimizer() { return optimizer_; }
  [[nodiscard]] L& loader() { return loader_; }
  [[nodiscard]] S& sink() { return sink_; }

 private:
  using Batches = std::span<const typename M::batch_type>;
  using Losses = std::vector<std::pair<double, typename M::loss_type>>;  // with their weights

  /// A step of which only the device knows whether it was taken.
  struct Doubt {
    optim::Outcome outcome;
    std::string step;
  };

  template <class EvaluateDev, class... Observers>
  train::FitReport run(const train::FitOptions& options, const EvaluateDev& evaluate_dev,
                       Observers&... observers) {
    check_observers<Observers...>();
    options.validate();
    options_ = options;
    const auto start = std::chrono::steady_clock::now();
    length_ = train::run_length(loader_, options);
    state_ = {};
    best_ = {};
    doubt_.reset();
    restore(observers...);
    train::notify(
        train::FitBegin{length_.epochs, length_.steps, loader_.examples(), state_.position},
        observers...);
    if (options.stop.stop_requested()) safe_point(observers...);
    while (!is_done()) {
      train_epoch(observers...);
      evaluate_dev();
      keep_best();
      ++state_.position.epoch;
      state_.position.batch = 0;
      train::notify(train::EpochEnd{state_.position.epoch, length_.epochs}, observers...);
      safe_point(observers...);
    }
    take_best();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    train::notify(train::FitEnd{state_.position.step, elapsed.count()}, observers...);
    return {.steps = state_.position.step,
            .epochs = state_.position.epoch,
            .seconds = elapsed.count(),
            .skipped_steps = state_.skipped_steps,
            .dev = state_.dev,
            .epoch_of_model = epoch_of_model()};
  }

  template <class... Observers>
  static consteval void check_observers() {
    static_assert(((train::Observer<Observers> || train::CountsEvaluations<Observers>)&&...),
                  "an observer hears nothing: it needs on(const train::StepEnd&) or the like");
    static_assert(Checkpointable<M, O> || !(train::Hears<Observers, train::SafePoint> || ...),
                  "an observer saves checkpoints, but the model or the optimizer has no state_dict "
                  "and load_state_dict, state and load_state for that");
  }

  [[nodiscard]] bool is_done() const {
    if (state_.position.batch > 0) return false;  // the evaluation is missing
    return state_.position.step >= length_.steps ||
           train::out_of_patience(state_.dev, options_.early_stopping_patience);
  }

  /// Lets whoever has a saved fit put it in the place of the fresh one.
  template <class... Observers>
  void restore(Observers&... observers) {
    if constexpr (Checkpointable<M, O>) {
      const std::function<void(const train::SavedFit&)> from = [&](const train::SavedFit& saved) {
        const auto& at = saved.state.position;
        if (at.step > length_.steps || at.epoch > length_.epochs ||
            at.batch > loader_.batches_in(at.epoch)) {
          throw InputError{describe(at) + " is behind the end of this run",
                           {.object = "checkpoint"}};
        }
        model_.load_state_dict(saved.tensors("model"));
        optimizer_.load_state(saved.tensors("optimizer"), model_.parameters());
        if (options_.best_model && !saved.state.dev.empty()) {
          best_.assign(saved.tensors("best_model"));
        }
        state_ = saved.state;
      };
      train::notify(train::Restore{from}, observers...);
    }
  }

  /// A moment between two steps. Throws `Stopped` if the run is to end, once all is saved.
  template <class... Observers>
  void safe_point(Observers&... observers) {
    const bool last = options_.stop.stop_requested();
    if constexpr (Checkpointable<M, O>) {
      const std::function<void(const train::VisitTensors&)> tensors =
          [&](const train::VisitTensors& visit) {
            settle(observers...);
            visit("model", model_.state_dict().views());
            visit("optimizer", optimizer_.state().views());
            if (!best_.empty()) visit("best_model", best_.views());
          };
      train::notify(train::SafePoint{state_, last, tensors}, observers...);
    }
    if (last) {
      throw train::Stopped{"stopped after step " + std::to_string(state_.position.step) + " of " +
                           std::to_string(length_.steps)};
    }
  }

  void keep_best() {
    if constexpr (Checkpointable<M, O>) {
      if (!options_.best_model || state_.dev.empty()) return;
      if (train::best_epoch(state_.dev) + 1 == state_.dev.size()) {
        best_.assign(model_.state_dict().views());
      }
    }
  }

  [[nodiscard]] std::size_t epoch_of_model() const {
    if (state_.dev.empty()) return 0;
    return best_.empty() ? state_.dev.size() - 1 : train::best_epoch(state_.dev);
  }

  void take_best() {
    if constexpr (Checkpointable<M, O>) {
      if (!best_.empty()) model_.load_state_dict(best_.views());
    }
  }

  template <class Work, class... Observers>
  auto stoppable(const Work& work, Observers&... observers) {
    try {
      return work();
    } catch (const train::Stopped&) {
      safe_point(observers...);
      throw;
    }
  }

  [[nodiscard]] train::EvalPoint point(std::string_view split, std::int64_t epochs_begun) const {
    const auto& position = state_.position;
    return {split, position.epoch + epochs_begun, position.step, options_.stop};
  }

  /// What is left of the current epoch, up to the run's last step.
  template <class... Observers>
  void train_epoch(Observers&... observers) {
    const auto& [epoch, done, steps] = state_.position;
    const std::int64_t batches = loader_.batches_in(epoch);
    if (steps == length_.steps || done == batches) return;
    const std::int64_t window = options_.gradient_accumulation_steps;
    std::int64_t index = opens_inside ? done : 0;
    const std::int64_t first = done;
    std::vector<typename M::batch_type> together;
    for (const typename M::batch_type& batch : open_epoch(epoch, first)) {
      if (++index <= first) continue;
      if (window == 1) {
        take_step({&batch, 1}, batches, observers...);
      } else {
        together.push_back(batch);
        if (index % window != 0 && index != batches) continue;
        take_step(together, batches, observers...);
        together.clear();
      }
      if (steps == length_.steps) break;
    }
    settle(observers...);
  }

  static constexpr bool opens_inside = requires(L & loader, std::int64_t i) { loader.epoch(i, i); };

  /// The batches of an epoch from `first` on, or all where the loader cannot leave any out.
  decltype(auto) open_epoch(std::int64_t epoch, [[maybe_unused]] std::int64_t first) {
    if constexpr (opens_inside) {
      return loader_.epoch(epoch, first);
    } else {
      return loader_.epoch(epoch);
    }
  }

  template <class... Observers>
  void take_step(Batches batches, std::int64_t of, Observers&... observers) {
    std::int64_t examples = 0;
    std::int64_t tokens = 0;
    for (const auto& batch : batches) {
      examples += batch.rows;
      tokens += batch.tokens();
    }
    const Losses losses = accumulate(batches);
    settle(observers...);
    auto& [epoch, done, steps] = state_.position;
    const double lr_scale = options_.schedule.lr_scale(steps, length_.steps);
    optim::Outcome outcome =
        step_optimizer({.lr_scale = lr_scale, .max_grad_norm = options_.max_grad_norm});
    ++steps;
    done += static_cast<std::int64_t>(batches.size());
    judge(std::move(outcome), batches, losses, observers...);
    const std::function<double()> loss = [&losses] { return mean(losses); };
    train::notify(train::StepEnd{.step = steps,
                                 .steps = length_.steps,
                                 .epoch = epoch + 1,
                                 .batch = done,
                                 .batches = of,
                                 .examples = examples,
                                 .tokens = tokens,
                                 .learning_rate = lr_scale * optimizer_.learning_rate(),
                                 .loss = loss},
                  observers...);
    safe_point(observers...);
  }

  Losses accumulate(Batches batches) {
    Losses losses;
    double whole = 0;
    for (const auto& batch : batches) whole += train::weight_of(model_, batch);
    for (const auto& batch : batches) {
      const double weight = train::weight_of(model_, batch) / whole;
      losses.emplace_back(weight, model_.accumulate(batch, weight));
    }
    return losses;
  }

  static double mean(const Losses& losses) {
    double sum = 0;
    for (const auto& [weight, loss] : losses) sum += weight * static_cast<double>(loss);
    return sum;
  }

  optim::Outcome step_optimizer(const optim::Step& step) {
    if constexpr (std::is_void_v<decltype(optimizer_.step(model_.parameters(), step))>) {
      optimizer_.step(model_.parameters(), step);
      return {};
    } else {
      return optimizer_.step(model_.parameters(), step);
    }
  }

  /// Looks whether the step was taken, at once or, where only the device knows, later.
  template <class... Observers>
  void judge(optim::Outcome outcome, Batches batches, const Losses& losses,
             Observers&... observers) {
    const bool known = outcome.known();
    if (known && outcome.problem().empty()) return;
    std::string step = describe(state_.position);
    if (const double loss = known ? mean(losses) : 0; known) {
      step += ", loss " + (std::isnan(loss) ? "nan" : std::to_string(loss));
    }
    doubt_ = Doubt{std::move(outcome), step + ", " + train::describe_rows(batches)};
    if (known) settle(observers...);
  }

  /// Asks for what is not known of the last step. One that was not taken ends the run or is
  /// counted.
  template <class... Observers>
  void settle(Observers&... observers) {
    if (!doubt_) return;
    Doubt doubt = *std::exchange(doubt_, {});
    if (doubt.outcome.problem().empty()) return;
    const std::string problem =
        doubt.step + ": " + doubt.outcome.problem() + "; the step was not taken";
    if (options_.on_nonfinite == train::OnNonfinite::stop) {
      throw Error{problem, {}, "lower the learning rate, or let such steps be skipped"};
    }
    ++state_.skipped_steps;
    train::notify(train::StepSkipped{state_.position.step, state_.skipped_steps, problem},
                  observers...);
  }

  M model_;
  O optimizer_;
  L loader_;
  S sink_;
  train::FitOptions options_;
  train::State state_;
  weights::TensorCopies best_;  // the parameters after the best epoch, if they are kept
  std::optional<Doubt> doubt_;
  train::RunLength length_;
};

}  // namespace seqtrain
