#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <seqtrain/concepts.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/sink/publish.hpp>
#include <seqtrain/train/evaluate.hpp>
#include <seqtrain/train/fits.hpp>
#include <seqtrain/train/observe.hpp>
#include <seqtrain/train/options.hpp>

namespace seqtrain {

namespace train {

/// What `Trainer::fit` leaves: how far it came, and the dev set's figures after each epoch.
struct FitReport {
  std::int64_t steps = 0;
  std::int64_t epochs = 0;
  double seconds = 0;
  std::vector<metrics::ClassificationReport> dev;
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

  /// Trains, telling each observer what happens. Throws `InputError` on options out of range, and
  /// whatever a policy or an observer throws.
  template <class... Observers>
  requires(!(Loader<std::remove_cvref_t<Observers>> || ...)) train::FitReport
      fit(const train::FitOptions& options, Observers&&... observers) {
    return run(
        options, [](std::int64_t, std::int64_t) {}, observers...);
  }

  /// As above, and evaluates on `dev` after each epoch.
  template <class D, class... Observers>
  requires Loader<std::remove_cvref_t<D>> train::FitReport fit(const train::FitOptions& options,
                                                               D&& dev, Observers&&... observers) {
    std::vector<metrics::ClassificationReport> reports;
    const auto evaluate_dev = [&](std::int64_t epoch, std::int64_t step) {
      reports.push_back(train::evaluate(model_, dev, {"dev", epoch, step}, observers...));
    };
    auto report = run(options, evaluate_dev, observers...);
    report.dev = std::move(reports);
    return report;
  }

  /// Runs the model over a loader's examples without training.
  template <class D, class... Observers>
  metrics::ClassificationReport evaluate(D&& loader, std::string_view split,
                                         Observers&&... observers) {
    return train::evaluate(model_, loader, {split, epoch_, step_}, observers...);
  }

  /// Puts files and directories of `directory` into the sink, under `prefix`, and a manifest last:
  /// see `sink::publish`.
  void publish(const std::filesystem::path& directory, const std::vector<std::string>& names,
               const std::string& prefix) {
    sink::publish(sink_, directory, names, prefix);
  }

  [[nodiscard]] M& model() { return model_; }
  [[nodiscard]] O& optimizer() { return optimizer_; }
  [[nodiscard]] L& loader() { return loader_; }
  [[nodiscard]] S& sink() { return sink_; }

 private:
  using Batches = std::span<const typename M::batch_type>;

  template <class EvaluateDev, class... Observers>
  train::FitReport run(const train::FitOptions& options, const EvaluateDev& evaluate_dev,
                       Observers&... observers) {
    static_assert((train::Observer<Observers> && ...),
                  "an observer hears nothing: it needs on(const train::StepEnd&) or the like");
    options.validate();
    const auto start = std::chrono::steady_clock::now();
    const auto elapsed = [start] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    plan(options);
    train::notify(train::FitBegin{epochs_, steps_, loader_.examples()}, observers...);
    while (step_ < steps_) {
      train_epoch(options, observers...);
      evaluate_dev(epoch_, step_);
      train::notify(train::EpochEnd{epoch_, epochs_}, observers...);
    }
    train::notify(train::FitEnd{step_, elapsed()}, observers...);
    return {.steps = step_, .epochs = epoch_, .seconds = elapsed(), .dev = {}};
  }

  /// Counts the run's epochs and steps, and starts at the first.
  void plan(const train::FitOptions& options) {
    if (loader_.examples() == 0) throw InputError{"there are no examples to train on"};
    epoch_ = step_ = epochs_ = steps_ = 0;
    const auto more = [&] {
      return options.max_steps > 0 ? steps_ < options.max_steps : epochs_ < options.epochs;
    };
    while (more()) {
      const std::int64_t window = options.gradient_accumulation_steps;
      steps_ += (loader_.batches_in(epochs_++) + window - 1) / window;
    }
    if (options.max_steps > 0) steps_ = options.max_steps;
  }

  template <class... Observers>
  void train_epoch(const train::FitOptions& options, Observers&... observers) {
    const std::int64_t batches = loader_.batches_in(epoch_);
    std::vector<typename M::batch_type> window;
    std::int64_t done = 0;
    const auto step = [&](Batches together) {
      take_step(options, together, {.epoch = epoch_ + 1, .batch = done, .batches = batches},
                observers...);
    };
    for (const typename M::batch_type& batch : loader_.epoch(epoch_)) {
      ++done;
      if (options.gradient_accumulation_steps == 1) {
        step({&batch, 1});
      } else {
        window.push_back(batch);
        if (done % options.gradient_accumulation_steps == 0 || done == batches) {
          step(window);
          window.clear();
        }
      }
      if (step_ == steps_) break;
    }
    ++epoch_;
  }

  struct Place {
    std::int64_t epoch = 0;
    std::int64_t batch = 0;
    std::int64_t batches = 0;
  };

  template <class... Observers>
  void take_step(const train::FitOptions& options, Batches batches, const Place& place,
                 Observers&... observers) {
    std::int64_t examples = 0;
    std::int64_t tokens = 0;
    for (const auto& batch : batches) {
      examples += batch.rows;
      tokens += batch.tokens();
    }
    std::vector<std::pair<double, typename M::loss_type>> parts;
    for (const auto& batch : batches) {
      const double weight = static_cast<double>(batch.rows) / static_cast<double>(examples);
      parts.emplace_back(weight, model_.accumulate(batch, weight));
    }
    const double lr_scale = options.schedule.lr_scale(step_, steps_);
    optimizer_.step(model_.parameters(),
                    {.lr_scale = lr_scale, .max_grad_norm = options.max_grad_norm});
    const std::function<double()> loss = [&parts] {
      double sum = 0;
      for (const auto& [weight, part] : parts) sum += weight * static_cast<double>(part);
      return sum;
    };
    train::notify(train::StepEnd{.step = ++step_,
                                 .steps = steps_,
                                 .epoch = place.epoch,
                                 .batch = place.batch,
                                 .batches = place.batches,
                                 .examples = examples,
                                 .tokens = tokens,
                                 .learning_rate = lr_scale * optimizer_.learning_rate(),
                                 .loss = loss},
                  observers...);
  }

  M model_;
  O optimizer_;
  L loader_;
  S sink_;
  std::int64_t epoch_ = 0;   // epochs done
  std::int64_t step_ = 0;    // optimizer steps done
  std::int64_t epochs_ = 0;  // of the run
  std::int64_t steps_ = 0;   // of the run
};

}  // namespace seqtrain
