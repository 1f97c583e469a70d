// Fine-tunes a BERT or RoBERTa classifier on sentence pairs: README.md tells how to call it.
#include <seqtrain/cli.hpp>
#include <seqtrain/cli/places.hpp>
#include <seqtrain/model.hpp>
#include <seqtrain/optim.hpp>
#include <seqtrain/report.hpp>
#include <seqtrain/tensor.hpp>
#include <seqtrain/text.hpp>
#include <seqtrain/train.hpp>
#include <seqtrain/trainer.hpp>

using namespace seqtrain;

template <class Optimizer>
void fine_tune(const cli::TrainFlags& flags, const train::Pairs& determining,
               train::Results results) {
  const auto device = tensor::use_machine(flags.device, flags.threads);
  const train::RunDirectory run{flags.run_directory("mnli")};
  const auto tokenizer = text::load_tokenizer(flags.model);
  const auto labels = flags.choose_labels();
  const auto options = flags.classifier<model::ClassifierOptions>(labels, tokenizer, device);
  auto model = model::load_classifier(flags.model, options);
  report::say(tensor::describe(device) + "\n" + model::describe(model, options));
  const auto settings = cli::run_settings(determining, flags, name(model.precision()));
  const auto checkpoints = cli::open_checkpoints(flags, run, {settings, results.versions});
  const cli::StopSignals signals{cli::stop_options(flags, *checkpoints)};
  cli::FileEncoder encode{flags, tokenizer, labels, model.max_length()};
  auto train = encode(flags.train_file, flags.fraction_of_train_data);
  data::BucketLoader dev{encode(flags.dev_file).set, flags.dev_batches()};
  data::BucketLoader test{encode(flags.test_file).set, flags.dev_batches()};
  model.set_class_weights(flags.class_weights_for(train.set, labels));
  report::say(data::describe(train));

  report::Console console{{.every = flags.log_every, .terminal = report::stdout_is_terminal()}};
  report::ProgressBar bar{{.enabled = report::stdout_is_terminal()}};
  report::JsonLines log{run.log(), {.every = flags.log_every, .warn = report::say}};
  report::Throughput throughput;

  Trainer trainer{std::move(model), Optimizer{flags.adam<optim::AdamOptions>()},
                  data::BucketLoader{std::move(train.set), flags.train_batches()},
                  cli::open_job_dir(flags.job_dir)};
  const auto fitted = trainer.fit(flags.fit_options(signals.token()), dev, console, bar, log,
                                  throughput, *checkpoints);
  results.dev = fitted.dev.at(fitted.epoch_of_model);
  results.test = trainer.evaluate(test, "test", console, bar, log, *checkpoints);
  results.train = throughput.figures();
  report::say(report::tables(*results.test, labels.names()));
  train::save_run(run, trainer.model(), tokenizer.files(), results);
  trainer.publish(run.path(), run.results(), train::dated_model_folder(), *checkpoints);
  checkpoints->finish();
  report::say("The model lies in " + run.path().string());
}

int main(int argc, char** argv) {
  return cli::run([&] {
    cli::TrainFlags flags;
    cli::Flags parser{"mnli", "fine-tunes a BERT or RoBERTa classifier on sentence pairs"};
    if (!flags.parse(parser, argc, argv)) return;
    const auto run = flags.optim == "adamw" ? fine_tune<optim::AdamW> : fine_tune<optim::Adam>;
    run(cli::with_local_inputs(flags), parser.determining_values(),
        {.flags = parser.values(), .versions = tensor::versions()});
  });
}
