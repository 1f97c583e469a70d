#pragma once

#include <string>
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

/// Fine-tunes a classifier as the flags say and leaves the run in its directory. `metrics` are
/// computed in each evaluation beside the accuracy. `parser` has read the flags.
template <class... Metrics>
void fine_tune(const std::string& program, const seqtrain::cli::TrainFlags& given,
               const seqtrain::cli::Flags& parser, const Metrics&... metrics) {
  using namespace seqtrain;
  const auto flags = cli::with_local_inputs(given);
  train::Results results{.flags = parser.values(), .versions = tensor::versions()};
  const auto device = tensor::use_machine(flags.device, flags.threads);
  const train::RunDirectory run{flags.run_directory(program)};
  auto job = cli::open_job_dir(flags.job_dir);
  const auto tokenizer = text::load_tokenizer(flags.model);
  const auto labels = flags.choose_labels();
  const auto options = flags.classifier<model::ClassifierOptions>(labels, tokenizer, device);
  auto model = model::load_classifier(flags.model, options);
  report::say(tensor::describe(device) + "\n" + model::describe(model, options));
  const auto settings =
      cli::run_settings(parser.determining_values(), flags, name(model.precision()));
  cli::RunCheckpoints checkpoints{flags, run, settings, results.versions};
  const cli::StopSignals signals{checkpoints.stop_options(flags)};
  const auto stop = signals.token();
  cli::FileEncoder encode{flags, tokenizer, labels, model.max_length()};
  auto train = encode(flags.train_file, flags.fraction_of_train_data);
  data::BucketLoader dev{encode(flags.dev_file).set, flags.dev_batches()};
  data::BucketLoader test{encode(flags.test_file).set, flags.dev_batches()};
  model.set_class_weights(flags.class_weights_for(train.set, labels));
  report::say(data::describe(train));
  checkpoints.keeper().lock();  // before `create` removes what a killed run left
  run.create();

  report::Console console{{.every = flags.log_every, .terminal = report::stdout_is_terminal()}};
  report::ProgressBar bar{{.enabled = report::stdout_is_terminal()}};
  report::JsonLines log{run.log(), {.every = flags.log_every, .warn = report::say}};
  report::Throughput throughput;

  Trainer trainer{std::move(model), optim::Adam{flags.adam<optim::AdamOptions>()},
                  data::BucketLoader{std::move(train.set), flags.train_batches()}, std::move(job)};
  const auto fitted =
      trainer.fit(flags.fit_options(stop), dev, train::BestModel{flags.best_model}, metrics...,
                  console, bar, log, throughput, checkpoints, checkpoints.keeper());
  results.dev = fitted.dev.at(fitted.epoch_of_model);
  results.test = trainer.evaluate(test, fitted.point("test", stop), metrics..., console, bar, log);
  results.train = throughput.figures();
  report::say(report::tables(*results.test, labels.names()));
  train::save_run(run, trainer.model(), tokenizer.files(), results);
  trainer.publish(run.path(), run.results(), train::dated_model_folder(), stop);
  checkpoints.check();
  report::say("The model is in " + run.path().string());
}
