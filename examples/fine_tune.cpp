#include "fine_tune.hpp"

#include <optional>
#include <utility>

#include <seqtrain/cli.hpp>
#include <seqtrain/cli/places.hpp>
#include <seqtrain/dist.hpp>
#include <seqtrain/metrics.hpp>
#include <seqtrain/model.hpp>
#include <seqtrain/optim.hpp>
#include <seqtrain/sink/publish_once.hpp>
#include <seqtrain/tensor.hpp>
#include <seqtrain/text.hpp>
#include <seqtrain/train.hpp>
#include <seqtrain/trainer.hpp>

#include "processes.hpp"
#include "run_observers.hpp"

using namespace seqtrain;

namespace {

void train_together(Processes& processes, c10::Device device, const report::Log& log,
                    const std::string& program, const cli::TrainFlags& given,
                    const cli::Flags& parser) {
  const auto flags = cli::with_local_inputs(processes.in_one_directory(given, program), log);
  train::Results results{.flags = parser.values(), .versions = tensor::versions()};
  const bool first = processes.is_first();
  const train::RunDirectory run{flags.run_directory(program, first)};
  auto job = first ? cli::open_job_dir(flags.job_dir, log) : sink::Any{sink::Discard{}};
  const auto tokenizer = text::load_tokenizer(flags.model);
  const auto labels = flags.choose_labels();
  const auto options = flags.classifier<model::ClassifierOptions>(labels, tokenizer, device);
  auto model = model::load_classifier(flags.model, options);
  log.lines(tensor::describe(device) + "\n" + model::describe(model, options));
  const auto settings =
      cli::run_settings(parser.determining_values(), flags, name(model.precision()));
  processes.check_equal(settings);
  std::optional<cli::RunCheckpoints> checkpoints;
  if (first) checkpoints.emplace(flags, run, settings, results.versions, log);
  const auto replicas = processes.replicas(flags.replicas, checkpoints ? &*checkpoints : nullptr);
  const cli::StopSignals signals{
      first ? checkpoints->stop_options(flags)
            : cli::StopSignalsOptions{.grace_seconds = flags.grace_seconds}};
  cli::FileEncoder encode{flags, tokenizer, labels, model.max_length(), log};
  auto train = processes.encode_once(encode, flags.train_file, flags.fraction_of_train_data);
  auto dev_set = processes.encode_once(encode, flags.dev_file).set;
  auto test_set = processes.encode_once(encode, flags.test_file).set;
  model.set_class_weights(flags.class_weights_for(train.set, labels));
  log.lines(data::describe(train));

  dist::Replicated replicated{std::move(model),
                              processes.group(),
                              {.replicas = replicas,
                               .accumulation = flags.gradient_accumulation_steps,
                               .reduction = dist::reduction_named(flags.reduction),
                               .own_stop = signals.token()}};
  const auto stop = replicated.stop();
  const auto evaluated = replicated.evaluation_shard();
  data::BucketLoader batches{std::move(train.set), flags.train_batches(replicated.shard())};
  data::BucketLoader dev{std::move(dev_set), flags.dev_batches(evaluated)};
  data::BucketLoader test{std::move(test_set), flags.dev_batches(evaluated)};
  RunObservers observers;
  if (first) {
    checkpoints->keeper().lock();  // before `create` removes what a killed run left
    run.create();
    observers = {{.flags = flags,
                  .run = run,
                  .checkpoints = *checkpoints,
                  .hyperparameters = parser.determining_values(),
                  .labels = labels.names(),
                  .on_gpu = device.is_cuda()},
                 log};
  }
  dist::SharedKeeper keeper{processes.group(), first ? &checkpoints->keeper() : nullptr};
  const metrics::Matthews matthews;
  Trainer trainer{std::move(replicated), optim::Adam{flags.adam<optim::AdamOptions>()},
                  std::move(batches), std::move(job)};
  const auto fitted = trainer.fit(flags.fit_options(replicas, stop), dev,
                                  train::BestModel{flags.best_model}, matthews, observers, keeper);
  results.dev = fitted.dev.at(fitted.epoch_of_model);
  results.test = trainer.evaluate(test, fitted.point("test", stop), matthews, observers);
  if (!first) return;
  observers.complete(results);
  log.info(observers.describe_machine());
  log.info(report::tables(*results.test, labels.names()));
  train::save_run(run, trainer.model().model(), tokenizer.files(), results);
  sink::publish_once(trainer.sink(), run.path(), run.results(), train::dated_model_folder(), [&] {
    if (stop.stop_requested()) throw train::Stopped{"stopped while publishing"};
  });
  checkpoints->check();
  log.info("The model is in " + run.path().string());
}

}  // namespace

void fine_tune(const report::Log& log, const std::string& program, const cli::TrainFlags& flags,
               const cli::Flags& parser) {
  const auto world = dist::World::from_environment();
  log.set_rank(world.rank);
  log.info(cli::CloudJob::from_environment().describe());
  const auto device = tensor::use_machine(flags.device, flags.threads, world.local_rank);
  Processes processes{world, flags, device};
  processes.tell_errors([&] { train_together(processes, device, log, program, flags, parser); });
}
