#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include <seqtrain/cli.hpp>
#include <seqtrain/cli/places.hpp>
#include <seqtrain/model.hpp>
#include <seqtrain/optim.hpp>
#include <seqtrain/report.hpp>
#include <seqtrain/tensor.hpp>
#include <seqtrain/text.hpp>
#include <seqtrain/train.hpp>
#include <seqtrain/trainer.hpp>

/// What follows a run: the program's log, a progress bar, train_log.jsonl and the measured rates.
class RunObservers {
 public:
  RunObservers(const seqtrain::cli::TrainFlags& flags, const seqtrain::train::RunDirectory& run,
               const seqtrain::report::Log& log)
      : console_{{.every = flags.log_every}, log},
        bar_{{.enabled = log.on_terminal()}},
        records_{run.log(), {.every = flags.log_every, .warn = log.warnings()}} {}

  /// Passes an event of the fit, or of an evaluation, on to each of them.
  template <class Event>
  void on(const Event& event) {
    seqtrain::train::notify(event, console_, bar_, records_, throughput_);
  }

  [[nodiscard]] seqtrain::train::FitFigures figures() const { return throughput_.figures(); }

 private:
  seqtrain::report::Console console_;
  seqtrain::report::ProgressBar<> bar_;
  seqtrain::report::JsonLines records_;
  seqtrain::report::Throughput<> throughput_;
};

/// Fine-tunes a classifier as the flags say and leaves the run in its directory. `metrics` are
/// computed in each evaluation beside the accuracy.
template <class Optimizer, class... Metrics>
void fine_tune_with(const seqtrain::report::Log& log, const std::string& program,
                    const seqtrain::cli::TrainFlags& flags,
                    const seqtrain::train::Pairs& determining, seqtrain::train::Results results,
                    const Metrics&... metrics) {
  using namespace seqtrain;
  log.info(cli::CloudJob::from_environment().describe());
  const auto device = tensor::use_machine(flags.device, flags.threads);
  const train::RunDirectory run{flags.run_directory(program)};
  auto job = cli::open_job_dir(flags.job_dir, log);
  const auto tokenizer = text::load_tokenizer(flags.model);
  const auto labels = flags.choose_labels();
  const auto options = flags.classifier<model::ClassifierOptions>(labels, tokenizer, device);
  auto model = model::load_classifier(flags.model, options);
  log.lines(tensor::describe(device) + "\n" + model::describe(model, options));
  const auto settings = cli::run_settings(determining, flags, name(model.precision()));
  cli::RunCheckpoints checkpoints{flags, run, settings, results.versions, log};
  const cli::StopSignals signals{checkpoints.stop_options(flags)};
  const auto stop = signals.token();
  cli::FileEncoder encode{flags, tokenizer, labels, model.max_length(), log};
  auto train = encode(flags.train_file, flags.fraction_of_train_data);
  data::BucketLoader dev{encode(flags.dev_file).set, flags.dev_batches()};
  data::BucketLoader test{encode(flags.test_file).set, flags.dev_batches()};
  model.set_class_weights(flags.class_weights_for(train.set, labels));
  log.lines(data::describe(train));
  checkpoints.keeper().lock();  // before `create` removes what a killed run left
  run.create();

  RunObservers observers{flags, run, log};

  Trainer trainer{std::move(model), Optimizer{flags.adam<optim::AdamOptions>()},
                  data::BucketLoader{std::move(train.set), flags.train_batches()}, std::move(job)};
  const auto fitted = trainer.fit(flags.fit_options(stop), dev, train::BestModel{flags.best_model},
                                  metrics..., observers, checkpoints, checkpoints.keeper());
  results.dev = fitted.dev.at(fitted.epoch_of_model);
  results.test = trainer.evaluate(test, fitted.point("test", stop), metrics..., observers);
  results.train = observers.figures();
  log.info(report::tables(*results.test, labels.names()));
  train::save_run(run, trainer.model(), tokenizer.files(), results);
  trainer.publish(run.path(), run.results(), train::dated_model_folder(), stop);
  checkpoints.check();
  log.info("The model is in " + run.path().string());
}

/// Calls `fine_tune_with` with the optimizer that the flags name. `parser` has read them.
template <class... Metrics>
void fine_tune(const seqtrain::report::Log& log, const std::string& program,
               const seqtrain::cli::TrainFlags& flags, const seqtrain::cli::Flags& parser,
               const Metrics&... metrics) {
  using namespace seqtrain;
  const auto run = [&]<class Optimizer>(std::type_identity<Optimizer>) {
    fine_tune_with<Optimizer>(
        log, program, cli::with_local_inputs(flags, log), parser.determining_values(),
        {.flags = parser.values(), .versions = tensor::versions()}, metrics...);
  };
  if (flags.optim == "adamw") return run(std::type_identity<optim::AdamW>{});
  run(std::type_identity<optim::Adam>{});
}
