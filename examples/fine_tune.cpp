#include "fine_tune.hpp"

#include <utility>

#include <seqtrain/cli.hpp>
#include <seqtrain/cli/places.hpp>
#include <seqtrain/metrics.hpp>
#include <seqtrain/model.hpp>
#include <seqtrain/optim.hpp>
#include <seqtrain/tensor.hpp>
#include <seqtrain/text.hpp>
#include <seqtrain/train.hpp>
#include <seqtrain/trainer.hpp>

#include "run_observers.hpp"

using namespace seqtrain;

void fine_tune(const report::Log& log, const std::string& program, const cli::TrainFlags& given,
               const cli::Flags& parser) {
  const auto flags = cli::with_local_inputs(given, log);
  train::Results results{.flags = parser.values(), .versions = tensor::versions()};
  const auto cloud = cli::CloudJob::from_environment();
  cloud.check_one_machine();
  log.info(cloud.describe());
  const auto device = tensor::use_machine(flags.device, flags.threads);
  const train::RunDirectory run{flags.run_directory(program)};
  auto job = cli::open_job_dir(flags.job_dir, log);
  const auto tokenizer = text::load_tokenizer(flags.model);
  const auto labels = flags.choose_labels();
  const auto options = flags.classifier<model::ClassifierOptions>(labels, tokenizer, device);
  auto model = model::load_classifier(flags.model, options);
  log.lines(tensor::describe(device) + "\n" + model::describe(model, options));
  const auto settings =
      cli::run_settings(parser.determining_values(), flags, name(model.precision()));
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

  RunObservers observers{{.flags = flags,
                          .run = run,
                          .hyperparameters = parser.determining_values(),
                          .labels = labels.names(),
                          .on_gpu = device.is_cuda()},
                         log};
  const metrics::Matthews matthews;
  Trainer trainer{std::move(model), optim::Adam{flags.adam<optim::AdamOptions>()},
                  data::BucketLoader{std::move(train.set), flags.train_batches()}, std::move(job)};
  const auto fitted = trainer.fit(flags.fit_options(stop), dev, train::BestModel{flags.best_model},
                                  matthews, observers, checkpoints, checkpoints.keeper());
  results.dev = fitted.dev.at(fitted.epoch_of_model);
  results.test = trainer.evaluate(test, fitted.point("test", stop), matthews, observers);
  observers.complete(results);
  log.info(observers.describe_machine());
  log.info(report::tables(*results.test, labels.names()));
  train::save_run(run, trainer.model(), tokenizer.files(), results);
  trainer.publish(run.path(), run.results(), train::dated_model_folder(), stop);
  checkpoints.check();
  log.info("The model is in " + run.path().string());
}
