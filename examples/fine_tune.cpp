#include "fine_tune.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include <seqtrain/cli/cloud_job.hpp>
#include <seqtrain/cli/encode.hpp>
#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/next_commands.hpp>
#include <seqtrain/cli/places.hpp>
#include <seqtrain/cli/push_to_hub.hpp>
#include <seqtrain/cli/run_settings.hpp>
#include <seqtrain/cli/stop_signals.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/data/describe.hpp>
#include <seqtrain/data/hold_out.hpp>
#include <seqtrain/data/loader.hpp>
#include <seqtrain/data/unknown_tokens.hpp>
#include <seqtrain/data/visit_examples.hpp>
#include <seqtrain/dist/group.hpp>
#include <seqtrain/dist/replicated.hpp>
#include <seqtrain/dist/shared_keeper.hpp>
#include <seqtrain/dist/world.hpp>
#include <seqtrain/log.hpp>
#include <seqtrain/metrics/matthews.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/describe.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/model/options.hpp>
#include <seqtrain/model/row_cache.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/page.hpp>
#include <seqtrain/report.hpp>
#include <seqtrain/run/answers.hpp>
#include <seqtrain/run/calibrate.hpp>
#include <seqtrain/run/predictions.hpp>
#include <seqtrain/run/results.hpp>
#include <seqtrain/run/run_directory.hpp>
#include <seqtrain/run/save_run.hpp>
#include <seqtrain/sink/publish_once.hpp>
#include <seqtrain/tensor/machine.hpp>
#include <seqtrain/tensor/versions.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>
#include <seqtrain/text/unknown_id.hpp>
#include <seqtrain/train/best_model.hpp>
#include <seqtrain/trainer.hpp>

#include "processes.hpp"
#include "run_observers.hpp"

using namespace seqtrain;

namespace {

/// An observer that remembers which epoch was evaluated last.
struct LastDev {
  std::size_t epoch = 0;
  void on(const train::EvalEnd& event) { epoch = static_cast<std::size_t>(event.epoch); }
};

/// Returns the answers to a split for predictions.jsonl.
run::PredictedSplit predicted(const std::string& name, const run::Answers* answers,
                              const std::string& file, std::size_t left_out,
                              const cli::TrainFlags& flags, const data::Labels& labels,
                              std::span<const std::size_t> rows = {}) {
  run::PredictedSplit split{.name = name, .answers = answers};
  if (left_out > 0 || !rows.empty()) {
    split.records = data::record_numbers(file, flags.read_options(), labels, rows);
  }
  return split;
}

/// Looks at the output directory and, if the model has to be fetched, reads the files of examples,
/// so that errors in them are found before. Otherwise they are found soon by encoding.
void check_before_the_model(const cli::TrainFlags& flags, const run::RunDirectoryOptions& run,
                            const cli::Flags& parser) {
  std::error_code none;
  const bool is_bundled = flags.train_file == cli::DataFlags{}.train_file;
  const bool is_missing = is_bundled && !parser.is_given("train-file") &&
                          !std::filesystem::exists(flags.train_file, none);
  if (flags.train_file.empty() || is_missing) {
    throw InputError{"is needed",
                     {.object = "--train-file"},
                     "name a .csv, .tsv or .jsonl with the fields text and label, or a --dataset"};
  }
  const run::RunDirectory directory{run};
  if (!cli::is_on_hub(flags.model) && !gcs::is_gs(flags.model)) return;
  // The model may determine what labels are. Each of them can be read for regression.
  const data::Labels any = data::Labels::regression();
  for (const auto& file : {flags.train_file, flags.dev_file, flags.test_file}) {
    if (file.empty()) continue;
    data::visit_examples(file, flags.read_options(), any, [](const auto&, const data::Example&) {});
  }
}

/// Encodes the training file and the dev file, or holds the dev examples out of the training file.
data::HeldOut encode_train_and_dev(Processes& processes,
                                   cli::FileEncoder<text::AnyTokenizer>& encode,
                                   const cli::TrainFlags& flags) {
  const double fraction = flags.fraction_of_train_data;
  if (flags.dev_fraction == 0) {
    return {.train = processes.encode_once(encode, flags.train_file, fraction),
            .dev = processes.encode_once(encode, flags.dev_file)};
  }
  return flags.hold_out(processes.encode_once(encode, flags.train_file), encode.max_length());
}

void train_together(Processes& processes, c10::Device device, const log::Log& log,
                    const std::string& program, const cli::TrainFlags& given,
                    const cli::Flags& parser, std::string& place) {
  const bool first = processes.is_first();
  std::optional<cli::PushToHub> repository;
  if (first) repository.emplace(given, log);
  const auto flags = cli::with_local_inputs(
      processes.in_one_directory(given, program), log, [&](const cli::TrainFlags& files) {
        check_before_the_model(files, files.run_directory(program, first), parser);
      });
  run::Results results{.flags = cli::with_dataset(parser.values(), flags),
                       .versions = tensor::versions()};
  const auto card_dataset = cli::card_dataset(flags);
  const run::RunDirectory run{flags.run_directory(program, first)};
  place = run.path().string();
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
  if (flags.holds_out_by_default) {
    log.info("No --dev-file: a tenth of " + flags.train_file + " is held out to evaluate on");
  }
  auto [train, dev_file, dev_rows] = encode_train_and_dev(processes, encode, flags);
  const std::string& dev_name = dev_rows.empty() ? flags.dev_file : flags.train_file;
  std::optional<data::EncodedFile> test_file;
  if (!flags.test_file.empty()) test_file = processes.encode_once(encode, flags.test_file);
  model.set_loss(flags.loss_for<model::LossOptions>(train.set, labels));
  log.lines(data::describe(train));
  if (first) {
    results.data = data::describe(train, dev_file, labels);
    log.lines(data::to_text(*results.data));
    log.warning(data::leak_warning(*results.data));
    log.warning(data::rare_label_warning(*results.data));
    log.warning(data::unknown_warning(train.set, text::unknown_id(tokenizer)));
    if (flags.freeze_encoder && device.is_cpu() && model.has_kernels()) {
      const auto rows =
          train.set.size() + dev_file.set.size() + (test_file ? test_file->set.size() : 0);
      log.warning(
          model::states_warning(rows, static_cast<std::size_t>(model.config().hidden_size)));
    }
  }

  dist::Replicated replicated{std::move(model),
                              processes.group(),
                              {.replicas = replicas,
                               .accumulation = flags.gradient_accumulation_steps,
                               .reduction = dist::reduction_named(flags.reduction),
                               .own_stop = signals.token()}};
  const auto stop = replicated.stop();
  const auto evaluated = replicated.evaluation_shard();
  const predict::Task task{.labels = labels.names(), .problem_type = labels.problem_type()};
  const auto options_of_fit = flags.fit_options(replicas, stop);
  page::RunPageOptions page;
  if (first) {
    page = {.file = run.report(),
            .log = run.log(),
            .facts = {.name = run.path().filename().string(),
                      .command = parser.command(cli::flags_of_one_run),
                      .model_place = run.model().string(),
                      .changed = parser.changed_values(),
                      .versions = results.versions,
                      .machine = {{"device", tensor::describe(device)}},
                      .task = task,
                      .selection = options_of_fit.selection(),
                      .max_length = static_cast<std::int64_t>(encode.max_length()),
                      .train = page::set_facts(flags.train_file, train, task),
                      .dev = page::set_facts(dev_name, dev_file, task),
                      .texts = flags.report_texts == "true"},
            .labels = labels,
            .read = flags.read_options(),
            .dev_rows = dev_rows,
            .warn = log.warnings()};
  }
  data::BucketLoader batches{std::move(train.set), flags.train_batches(replicated.shard())};
  data::BucketLoader dev{std::move(dev_file.set), flags.dev_batches(evaluated)};
  run::AnswerKeeper answers{first};
  LastDev last_dev;
  RunObservers observers;
  if (first) {
    checkpoints->keeper().lock();  // before `create` removes files of a killed run
    run.create();
    observers = {{.flags = flags,
                  .run = run,
                  .checkpoints = *checkpoints,
                  .hyperparameters = parser.determining_values(),
                  .labels = labels.names(),
                  .on_gpu = device.is_cuda(),
                  .page = std::move(page),
                  .answers = answers},
                 log};
  }
  dist::SharedKeeper keeper{processes.group(), first ? &checkpoints->keeper() : nullptr};
  const metrics::Matthews matthews;
  Trainer trainer{std::move(replicated), optim::Adam{flags.adam<optim::AdamOptions>()},
                  std::move(batches), std::move(job)};
  const auto fitted = trainer.fit(options_of_fit, dev, train::BestModel{flags.best_model}, matthews,
                                  answers, observers, last_dev, keeper);
  results.dev = fitted.dev.at(fitted.epoch_of_model);
  // `answers` holds the last evaluation, which may be of another epoch than the kept model.
  if (last_dev.epoch != fitted.epoch_of_model + 1) {
    trainer.evaluate(dev, fitted.point("dev", stop), answers);
  }
  if (test_file) {
    data::BucketLoader test{std::move(test_file->set), flags.dev_batches(evaluated)};
    results.test = trainer.evaluate(test, fitted.point("test", stop), matthews, answers, observers);
  }
  if (!first) return;
  const auto* const dev_answers = answers.find("dev");
  if (flags.calibrates() && dev_answers != nullptr) {
    results.calibration = run::calibrate(*dev_answers, task, flags.calibration_precision());
  }
  observers.complete(results);
  log.info(observers.describe_machine());
  log.info(report::tables(results.test ? *results.test : *results.dev, labels.names()));
  log.warning(report::one_answer_warning(*results.dev, labels.names()));
  run::save_run(run, trainer.model().model(), tokenizer.files(), results,
                {.base_model = cli::name_on_hub(given.model),
                 .license = run::license_of(flags.model),
                 .dataset = card_dataset});
  const bool test_is_dev = flags.test_file == flags.dev_file;
  std::vector<run::PredictedSplit> splits;
  if (dev_answers != nullptr) {
    splits.push_back(
        predicted("dev", dev_answers, dev_name, dev_file.left_out, flags, labels, dev_rows));
  }
  if (const auto* const test_answers = answers.find("test"); test_answers && !test_is_dev) {
    splits.push_back(
        predicted("test", test_answers, flags.test_file, test_file->left_out, flags, labels));
  }
  run::write_predictions(run.predictions(), splits,
                         results.calibration ? results.calibration->apply(task) : task);
  observers.finish_page(results, test_is_dev);
  sink::publish_once(trainer.sink(), run.path(), run.results(), run::dated_model_folder(), [&] {
    if (stop.stop_requested()) throw train::Stopped{"stopped while publishing"};
  });
  log.info("The model is in " + run.path().string());
  repository->push(run.model(), stop);
  checkpoints->check();
  checkpoints->finish(flags, run);
  log.lines(cli::next_commands(parser.started_as(), run, dev_name));
}

}  // namespace

void fine_tune(const log::Log& log, const std::string& program, const cli::TrainFlags& flags,
               const cli::Flags& parser) {
  const auto world = dist::World::from_environment();
  log.set_rank(world.rank);
  log.info(cli::CloudJob::from_environment().describe());
  const auto device = tensor::use_machine(flags.device, flags.threads, world.local_rank);
  Processes processes{world, flags, device};
  if (processes.group().through_host()) {
    log.warning(
        "The GPUs exchange gradients through the processor's memory, which is slower than "
        "NCCL: libseqtrain_nccl.so cannot be loaded");
  }
  std::string place;
  try {
    processes.tell_errors(
        [&] { train_together(processes, device, log, program, flags, parser, place); });
  } catch (const train::Stopped&) {
    log.info("To continue this run: the same flags with --output-dir " + place + " --resume auto");
    throw;
  }
}
