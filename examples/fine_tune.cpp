#include "fine_tune.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/cli/cloud_job.hpp>
#include <seqtrain/cli/stop_signals.hpp>
#include <seqtrain/core/shown_text.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/hold_out.hpp>
#include <seqtrain/data/loader.hpp>
#include <seqtrain/data/visit_examples.hpp>
#include <seqtrain/dist/replicated.hpp>
#include <seqtrain/dist/shared_keeper.hpp>
#include <seqtrain/dist/world.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/optim/averaged.hpp>
#include <seqtrain/page.hpp>
#include <seqtrain/report.hpp>
#include <seqtrain/run/answers.hpp>
#include <seqtrain/run/calibrate.hpp>
#include <seqtrain/run/predictions.hpp>
#include <seqtrain/run/save_run.hpp>
#include <seqtrain/sink/publish.hpp>
#include <seqtrain/tensor/machine.hpp>
#include <seqtrain/text/loading/save_tokenizer.hpp>
#include <seqtrain/train/selection.hpp>
#include <seqtrain/trainer.hpp>
#include <seqtrain/weights/sentence_form.hpp>

#include "deciding_passages.hpp"
#include "few_shot.hpp"
#include "next_commands.hpp"
#include "prepare.hpp"
#include "run_observers.hpp"
#include "teacher.hpp"

using namespace seqtrain;

namespace {

/// An observer that remembers which epoch was evaluated last.
struct LastDev {
  std::size_t epoch = 0;
  void on(const train::EvalEnd& event) { epoch = static_cast<std::size_t>(event.epoch); }
};

/// The observers of a run's fit. Only the first process keeps answers and writes to the run's
/// directory.
struct Watch {
  run::AnswerKeeper answers;
  LastDev last_dev = {};
  metrics::Matthews matthews = {};
  RunObservers observers = {};
};

/// A trainer and what its fit returned.
struct Fitted {
  Trainer<dist::Replicated<model::AnyClassifier>, optim::Averaged<optim::Adam>, data::BucketLoader,
          sink::Any>
      trainer;
  data::BucketLoader dev;
  train::FitReport report = {};
};

[[nodiscard]] predict::Task task_of(const Prepared& run) {
  return {.labels = run.labels.names(), .problem_type = run.labels.problem_type()};
}

/// Returns what the page of a run shows besides its figures.
[[nodiscard]] page::RunPageOptions page_options(const Program& program, const Prepared& run,
                                                const Examples& examples) {
  const cli::TrainFlags& flags = run.flags;
  const auto task = task_of(run);
  const std::size_t limit = run.tokenizer.windows() ? 0 : examples.train.max_length;
  return {.file = run.directory.report(),
          .log = run.directory.log(),
          .facts = {.name = run.directory.path().filename().string(),
                    .command = program.parser.command(cli::flags_of_one_run),
                    .model_place = run.directory.model().string(),
                    .changed = program.parser.changed_values(),
                    .versions = run.results.versions,
                    .machine = {{"device", tensor::describe(program.device)}},
                    .task = task,
                    .selection = flags.fit_options().selection(),
                    .max_length = static_cast<std::int64_t>(limit),
                    .train = page::set_facts(flags.train_file, examples.train, task),
                    .dev = page::set_facts(examples.dev_file, examples.dev, task),
                    .texts = flags.report_texts},
          .labels = run.labels,
          .read = examples.dev_read,
          .dev_rows = examples.dev_rows,
          .warn = program.log.warnings()};
}

/// Creates the run's directory and the observers that write there.
[[nodiscard]] RunObservers open_run(const Program& program, const Prepared& run,
                                    page::RunPageOptions page, const run::AnswerKeeper& answers) {
  run.checkpoints->lock(run.directory);  // before `create` removes files of a killed run
  run.directory.create();
  return {{.flags = run.flags,
           .run = run.directory,
           .checkpoints = *run.checkpoints,
           .hyperparameters = program.parser.determining_values(),
           .labels = run.labels.names(),
           .on_gpu = program.device.is_cuda(),
           .page = std::move(page),
           .answers = answers},
          program.log};
}

/// Gives the training examples the teacher's logits as targets if there is a teacher. The first
/// process asks it.
void learn_from_teacher(const Program& program, const Prepared& run, Examples& examples,
                        const std::stop_token& stop) {
  if (run.flags.teacher.empty()) return;
  const auto bytes = program.processes.once([&] {
    const auto rows = examples.train_rows();
    const auto logits = ask_teacher({.log = program.log,
                                     .flags = run.flags,
                                     .labels = run.labels,
                                     .rows = rows,
                                     .records = examples.train.total + examples.dev_rows.size(),
                                     .device = program.device,
                                     .precision = run.model.precision(),
                                     .stop = stop});
    return std::string{reinterpret_cast<const char*>(logits.data()), sizeof(float) * logits.size()};
  });
  std::vector<float> logits(bytes.size() / sizeof(float));
  std::memcpy(logits.data(), bytes.data(), bytes.size());
  const auto unlabelled = std::ranges::count(examples.train.set.arrays().labels, -1);
  const std::string alone = " training examples have no label and learn from the teacher alone";
  if (unlabelled == std::ssize(examples.train.set.arrays().labels)) {
    program.log.warning("All" + alone + "; --label-field names another field");
  } else if (unlabelled > 0) {
    program.log.info(std::to_string(unlabelled) + alone);
  }
  examples.train.set = with_targets(std::move(examples.train.set), std::move(logits));
}

/// Lets the model of a run with `--few-shot` learn from pairs of the examples. Throws `InputError`
/// if a label has no example or an example has two texts.
void learn_from_few(const Program& program, Prepared& run, const data::EncodedSet& set) {
  for (std::size_t id = 0; id < run.labels.size(); ++id) {
    if (std::ranges::count(set.arrays().labels, static_cast<std::int32_t>(id)) > 0) continue;
    throw InputError{"has no example of the label '" + shown(run.labels.names()[id]) + "'",
                     {.object = run.flags.train_file},
                     "--few-shot needs one of each label at least; see --labels"};
  }
  const auto read = run.flags.read_options();
  data::visit_examples(run.flags.train_file, read, run.labels, [&](auto place, const auto& each) {
    if (!each.text_pair) return;
    throw InputError{
        "has two texts; --few-shot embeds one text of each example",
        {.object = run.flags.train_file, .line = static_cast<std::int64_t>(place.record)},
        "--text-field names the text to read; or train without --few-shot"};
  });
  few_shot::learn_from(run.model, few_shot::batches_of(set));
  const weights::SentenceForm& form = *run.model.config().sentence;
  program.log.info(std::string{"Few-shot: the embedding of a text is "} +
                   (form.mean_pooling ? "the mean of its tokens" : "its first token") +
                   (form.normalizes ? ", normalized to length 1" : ", not normalized"));
}

/// Trains the model, evaluates it after each epoch and saves checkpoints.
[[nodiscard]] Fitted fit(const Program& program, Prepared& run, Examples& examples, Watch& watch,
                         const std::stop_token& own_stop) {
  const cli::TrainFlags& flags = run.flags;
  const bool first = program.processes.is_first();
  dist::Group& group = program.processes.group();
  run.model.set_loss(flags.loss_for<model::LossOptions>(examples.train.set, run.labels));
  learn_from_teacher(program, run, examples, own_stop);
  if (flags.few_shot) learn_from_few(program, run, examples.train.set);
  dist::Replicated model{std::move(run.model),
                         group,
                         {.replicas = run.replicas,
                          .accumulation = flags.gradient_accumulation_steps,
                          .reduction = dist::reduction_named(flags.reduction),
                          .own_stop = own_stop}};
  const auto options = flags.fit_options(run.replicas, model.stop());
  auto page = first ? page_options(program, run, examples) : page::RunPageOptions{};
  auto training = flags.train_batches(model.shard());
  if (flags.few_shot) training = few_shot::pair_options(examples.train.set, std::move(training));
  data::BucketLoader batches{std::move(examples.train.set), std::move(training)};
  data::BucketLoader dev{std::move(examples.dev.set), flags.dev_batches(model.evaluation_shard())};
  if (first) watch.observers = open_run(program, run, std::move(page), watch.answers);
  dist::SharedKeeper keeper{group, run.keeper()};
  auto adam = flags.adam<optim::AdamOptions>();
  adam.lr_factors = optim::layerwise(model.parameters(), flags.layerwise_lr_decay);
  Fitted fitted{
      .trainer = {std::move(model), optim::Averaged{optim::Adam{std::move(adam)}, flags.ema_decay},
                  std::move(batches), std::move(run.job)},
      .dev = std::move(dev)};
  fitted.report =
      fitted.trainer.fit(options, fitted.dev, train::BestModel{flags.best_model}, watch.matthews,
                         watch.answers, watch.observers, watch.last_dev, keeper);
  return fitted;
}

/// Evaluates the kept model on the dev file, unless that was done last, and on the test file.
void judge(Prepared& run, Examples& examples, Fitted& fitted, Watch& watch) {
  auto& [trainer, dev, report] = fitted;
  const auto stop = trainer.model().stop();
  run.results.dev = report.dev.at(report.epoch_of_model);
  // `answers` holds the last evaluation, which may be of another epoch than the kept model.
  if (watch.last_dev.epoch != report.epoch_of_model + 1) {
    trainer.evaluate(dev, report.point("dev", stop), watch.answers);
  }
  if (!examples.test) return;
  data::BucketLoader test{std::move(examples.test->set),
                          run.flags.dev_batches(trainer.model().evaluation_shard())};
  run.results.test = trainer.evaluate(test, report.point("test", stop), watch.matthews,
                                      watch.answers, watch.observers);
}

/// Calibrates the model if that is asked for, and logs the figures of the run.
void summarize(const Program& program, Prepared& run, const Watch& watch) {
  const log::Log& log = program.log;
  run::Results& results = run.results;
  const auto* const dev = watch.answers.find("dev");
  if (run.flags.calibrates() && dev != nullptr) {
    results.calibration = run::calibrate(*dev, task_of(run), run.flags.calibration_precision());
  }
  watch.observers.complete(results);
  log.info(watch.observers.describe_machine());
  log.info(report::tables(results.test ? *results.test : *results.dev, run.labels.names()));
  log.warning(report::one_answer_warning(*results.dev, run.labels.names()));
}

/// Returns the answers to a split for predictions.jsonl.
[[nodiscard]] run::PredictedSplit predicted(const std::string& name, const run::Answers* answers,
                                            const std::string& file, std::size_t left_out,
                                            const data::ReadOptions& read, const Prepared& run,
                                            std::span<const std::size_t> rows = {}) {
  run::PredictedSplit split{.name = name, .answers = answers};
  if (left_out > 0 || !rows.empty()) {
    split.records = data::record_numbers(file, read, run.labels, rows);
  }
  return split;
}

/// Saves the model and the figures. With `--merge-adapter` the base is loaded again, because the
/// passes have not kept it as it was, and the adapter is merged into it.
void save_model(const Program& program, const Prepared& run, const model::AnyClassifier& model) {
  const cli::TrainFlags& flags = run.flags;
  const auto save = [&](const model::AnyClassifier& saved) {
    const auto save_tokenizer = [&run](const auto& directory) {
      text::save_tokenizer(run.tokenizer, directory);
    };
    run::save_run(run.directory, saved, save_tokenizer, run.results,
                  {.base_model = name_on_hub(program.given.model),
                   .license = run::license_of(flags.model),
                   .dataset = run.dataset,
                   .is_sentence_encoder = saved.config().sentence.has_value()});
  };
  if (!flags.merge_adapter) return save(model);
  const auto adapter = run.directory.partial_model();
  model.save_pretrained(adapter);
  // A model with these options has no gradients and is not packed.
  const model::ClassifierOptions fixed{.freeze_encoder = true, .autograd = true};
  const auto whole = model::load_classifier(adapter, fixed, flags.model);
  std::filesystem::remove_all(adapter);
  save(whole);
}

/// Saves the model, the figures, the answers and the page in the run's directory.
void save(const Program& program, const Prepared& run, const Examples& examples, Fitted& fitted,
          Watch& watch) {
  const cli::TrainFlags& flags = run.flags;
  save_model(program, run, fitted.trainer.model().model());
  const bool test_is_dev = flags.test_file == flags.dev_file;
  std::vector<run::PredictedSplit> splits;
  if (const auto* const dev = watch.answers.find("dev")) {
    splits.push_back(predicted("dev", dev, examples.dev_file, examples.dev.left_out,
                               examples.dev_read, run, examples.dev_rows));
  }
  if (const auto* const test = watch.answers.find("test"); test && !test_is_dev) {
    splits.push_back(predicted("test", test, flags.test_file, examples.test->left_out,
                               flags.read_options(), run));
  }
  const auto task = task_of(run);
  run::write_predictions(run.directory.predictions(), splits,
                         run.results.calibration ? run.results.calibration->apply(task) : task);
  watch.observers.finish_page(run.results, test_is_dev,
                              deciding_passages(run.tokenizer, fitted.trainer.model().model()));
}

/// Copies the results to `--job-dir` and the model to the hub, then removes checkpoints that are
/// not needed any more.
void publish(const Program& program, const Prepared& run, const Examples& examples,
             Fitted& fitted) {
  const log::Log& log = program.log;
  const run::RunDirectory& directory = run.directory;
  const auto stop = fitted.trainer.model().stop();
  sink::publish_once(fitted.trainer.sink(), directory.path(), directory.results(),
                     run::dated_model_folder(), [&] {
                       if (stop.stop_requested()) throw train::Stopped{"stopped while publishing"};
                     });
  log.info("The model is in " + directory.path().string());
  run.repository->push(directory.model(), stop);
  run.checkpoints->check();
  run.checkpoints->finish(run.flags, directory);
  log.lines(next_commands(program.parser.started_as(), directory, examples.dev_file));
}

/// Trains on all processes. The first one then saves and publishes the results.
void train_together(const Program& program) {
  const bool first = program.processes.is_first();
  Prepared run = prepare(program);
  const cli::StopSignals signals{run.stop_options()};
  Examples examples = read_examples(program, run);
  Watch watch{.answers = run::AnswerKeeper{first}};
  Fitted fitted = fit(program, run, examples, watch, signals.token());
  judge(run, examples, fitted, watch);
  if (!first) return;
  summarize(program, run, watch);
  save(program, run, examples, fitted, watch);
  publish(program, run, examples, fitted);
}

}  // namespace

void fine_tune(const log::Log& log, const std::string& program, cli::TrainFlags& flags,
               cli::Flags& parser) {
  few_shot::take_flags(flags, parser);
  const auto world = dist::World::from_environment();
  log.set_rank(world.rank);
  log.info(cli::CloudJob::from_environment().describe());
  const auto device = tensor::use_machine(flags.device, flags.threads, world.local_rank);
  if (flags.deterministic) tensor::use_deterministic_operators(device);
  Processes processes{world, flags, device};
  if (processes.group().through_host()) {
    log.warning(
        "The GPUs exchange gradients through the processor's memory, which is slower than "
        "NCCL: libseqtrain_nccl.so cannot be loaded");
  }
  std::string place;
  try {
    processes.tell_errors([&] {
      train_together({.log = log,
                      .name = program,
                      .given = flags,
                      .parser = parser,
                      .processes = processes,
                      .device = device,
                      .place = place});
    });
  } catch (const train::Stopped&) {
    log.info("To continue this run: the same flags with --output-dir " + place + " --resume auto");
    throw;
  }
}
