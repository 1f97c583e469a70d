#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/checkpoint/with_checkpointer.hpp>
#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/sink/publish.hpp>
#include <seqtrain/train/checkpointer.hpp>
#include <seqtrain/train/evaluate.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/train/fit.hpp>
#include <seqtrain/train/fits.hpp>
#include <seqtrain/train/gradients.hpp>
#include <seqtrain/train/options.hpp>
#include <seqtrain/train/step_batches.hpp>
#include <seqtrain/train/stopped.hpp>

namespace seqtrain {

/// Trains a model. The trainer owns four policies, each a value that satisfies a concept in
/// concepts.hpp: the loader yields the batches of an epoch, the model computes gradients, the
/// optimizer changes the parameters, and the sink takes results and checkpoints.
template <class M, class O, class L, class S>
class Trainer {
  static_assert(train::fits<M, O, L, S>());

 public:
  Trainer(M model, O optimizer, L loader, S sink)
      : model_{std::move(model)},
        optimizer_{std::move(optimizer)},
        loader_{std::move(loader)},
        sink_{std::move(sink)} {}

  /// Trains and returns a report. Further arguments come in any order: a dev loader, on which the
  /// model is evaluated after each epoch; observers, which receive events and may end the fit;
  /// metrics; a `train::BestModel`; a `train::Checkpointer`, which replaces the checkpoints in the
  /// sink that `options.checkpoint` asks for. Throws `InputError` if an option is out of range,
  /// `train::Stopped` if `options.stop` is requested, `Error` if gradients are not finite, and
  /// passes on the exceptions of policies and arguments.
  template <class... Parts>
  train::FitReport fit(const train::FitOptions& options, Parts&&... parts) {
    train::check_parts<M, O, Parts...>();
    options.validate();
    return checkpoint::with_checkpointer<M, O>(
        sink_, options,
        [&](const train::CheckpointerRef& checkpointer) {
          return run(options, checkpointer, parts...);
        },
        parts...);
  }

  /// Evaluates the model on a loader's examples without training. Observers and metrics may follow.
  template <class D, class... Observers>
  metrics::ClassificationReport evaluate(D&& loader, const train::EvalPoint& point,
                                         Observers&&... observers) {
    // As a plain statement it would fail after the next one with g++ 14.
    static_assert((train::check_evaluation<M, D, Observers...>(), true));
    return train::evaluate(model_, loader, point, observers...);
  }

  /// Puts files and directories of `directory` into the sink under `prefix`, then a manifest: see
  /// `sink::publish`. Throws `train::Stopped` between two files if `stop` is requested.
  void publish(const std::filesystem::path& directory, const std::vector<std::string>& names,
               const std::string& prefix, const std::stop_token& stop = {}) {
    sink::publish(sink_, directory, names, prefix, [&stop] {
      if (stop.stop_requested()) throw train::Stopped{"stopped while publishing"};
    });
  }

  [[nodiscard]] M& model() { return model_; }
  [[nodiscard]] O& optimizer() { return optimizer_; }
  [[nodiscard]] L& loader() { return loader_; }
  [[nodiscard]] S& sink() { return sink_; }

 private:
  using B = typename M::batch_type;
  using Checkpointer = const train::CheckpointerRef&;

  template <class... Parts>
  train::FitReport run(const train::FitOptions& options, Checkpointer checkpointer,
                       Parts&... parts) {
    auto fit = train::begin_fit(options, model_, loader_, parts...);
    restore(fit, checkpointer);
    train::notify(fit.begin_event(), parts...);
    if (options.stop.stop_requested()) safe_point(fit, checkpointer, parts...);
    while (!fit.is_done()) {
      train_epoch(fit, checkpointer, parts...);
      // Saved as it is: a longer run would continue inside an epoch that is cut short.
      const bool cut = fit.state.position.batch < loader_.batches_in(fit.state.position.epoch);
      if (cut) save(train::Moment::end, fit, checkpointer, parts...);
      end_epoch(fit, checkpointer, parts...);
      train::notify(fit.epoch_event(), parts...);
      if (cut) break;
      safe_point(fit, checkpointer, parts...);
      if (!fit.is_done() && !fit.ends(model_, parts...)) continue;
      save(train::Moment::end, fit, checkpointer, parts...);
      break;
    }
    train::exchange_averages(optimizer_, model_);
    fit.apply_best(model_);
    train::notify(fit.end_event(), parts...);
    return fit.report(checkpointer.problem());
  }

  /// Trains the rest of the current epoch, up to the last step of the run.
  template <class Fit, class... Parts>
  void train_epoch(Fit& fit, Checkpointer checkpointer, Parts&... parts) {
    const auto [epoch, done, steps] = fit.state.position;
    const std::int64_t of = loader_.batches_in(epoch);
    if (steps == fit.length.steps || done == of || fit.has_ended()) return;
    train::StepBatches<B> window{fit.options.gradient_accumulation_steps, done, of};
    train::for_each_batch(loader_, epoch, done, [&](const B& batch) {
      if (!window.add(batch)) return true;
      step(fit, window.batches(), of, parts...);
      safe_point(fit, checkpointer, parts...);
      return fit.state.position.step < fit.length.steps && !fit.ends(model_, parts...);
    });
    settle(fit, /*wait=*/true, parts...);
  }

  template <class Fit, class... Parts>
  void step(Fit& fit, std::span<const B> batches, std::int64_t of, Parts&... parts) {
    const auto loss = train::reader_of(train::accumulate(model_, batches));
    settle(fit, /*wait=*/false, parts...);
    const auto& options = fit.options;
    const auto of_step = options.step(fit.state.position.step, fit.length.steps);
    auto outcome = train::take_step(optimizer_, model_, of_step);
    fit.count_step(batches, std::move(outcome), loss);
    settle(fit, /*wait=*/false, parts...);
    const double rate = of_step.lr_scale * optimizer_.learning_rate();
    train::notify(fit.step_event(batches, of, rate, loss), parts...);
  }

  /// Finds out which steps were taken; without `wait` only as far as that need not wait for a
  /// device. If one was not taken, ends the fit or counts the step as skipped.
  template <class Fit, class... Parts>
  void settle(Fit& fit, bool wait, Parts&... parts) {
    while (wait ? fit.watch.open() : fit.watch.due()) {
      const auto skipped = fit.watch.settle();
      if (skipped) train::notify(fit.count_skip(*skipped), parts...);
    }
  }

  /// Evaluates the epoch, and keeps its parameters if it is the best one.
  template <class Fit, class... Parts>
  void end_epoch(Fit& fit, Checkpointer checkpointer, Parts&... parts) {
    try {
      train::with_averages(optimizer_, model_, [&] {
        fit.evaluate_dev(model_, parts...);
        fit.end_epoch(model_);
      });
    } catch (const train::Stopped&) {
      safe_point(fit, checkpointer, parts...);
      throw;
    }
  }

  /// Lets the checkpointer save between two steps, then throws `Stopped` if a stop is requested.
  template <class Fit, class... Parts>
  void safe_point(Fit& fit, Checkpointer checkpointer, Parts&... parts) {
    const bool last = fit.options.stop.stop_requested();
    save(last ? train::Moment::stop : train::Moment::step, fit, checkpointer, parts...);
    if (last) throw train::Stopped{fit.stopped()};
  }

  template <class Fit, class... Parts>
  void save(train::Moment moment, Fit& fit, Checkpointer checkpointer, Parts&... parts) {
    if constexpr (Checkpointable<M, O>) {
      // Its errors end the fit.
      if (moment != train::Moment::step) settle(fit, /*wait=*/true, parts...);
      const std::function<void(const train::VisitTensors&)> tensors = [&](const auto& visit) {
        const auto settled = [&] { settle(fit, /*wait=*/true, parts...); };
        train::visit_states(model_, optimizer_, visit, settled);
        fit.visit_best(visit);
      };
      checkpointer.save(moment, {fit.state, tensors});
    }
  }

  template <class Fit>
  void restore(Fit& fit, Checkpointer checkpointer) {
    if constexpr (Checkpointable<M, O>) {
      const auto saved = checkpointer.restore(fit.plan());
      if (!saved) return;
      fit.restore(*saved, loader_);
      model_.load_state_dict(saved->tensors("model"));
      optimizer_.load_state(saved->tensors("optimizer"), model_.parameters());
    }
  }

  M model_;
  O optimizer_;
  L loader_;
  S sink_;
};

}  // namespace seqtrain
