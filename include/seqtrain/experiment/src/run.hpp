#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>

#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/memory.hpp>
#include <seqtrain/data/pairs.hpp>
#include <seqtrain/experiment/advise.hpp>
#include <seqtrain/experiment/baseline.hpp>
#include <seqtrain/experiment/begin_at_mean.hpp>
#include <seqtrain/experiment/choose_values.hpp>
#include <seqtrain/experiment/deciding_passages.hpp>
#include <seqtrain/experiment/deciding_words.hpp>
#include <seqtrain/experiment/few_shot.hpp>
#include <seqtrain/experiment/learn.hpp>
#include <seqtrain/experiment/next_commands.hpp>
#include <seqtrain/experiment/open_run.hpp>
#include <seqtrain/experiment/prepare.hpp>
#include <seqtrain/experiment/run.hpp>
#include <seqtrain/experiment/run_settings.hpp>
#include <seqtrain/experiment/save.hpp>
#include <seqtrain/experiment/src/watch.hpp>
#include <seqtrain/optim/make.hpp>
#include <seqtrain/optim/parameter_groups.hpp>
#include <seqtrain/report/baseline.hpp>
#include <seqtrain/report/table.hpp>
#include <seqtrain/run/advice.hpp>
#include <seqtrain/run/calibrate.hpp>
#include <seqtrain/run/run_directory.hpp>
#include <seqtrain/train/stopped.hpp>

namespace seqtrain::experiment {

/// The parts of a run. A program may take each of them once.
struct Run::State {
  const Program& program;
  Prepared prepared;
  const std::int64_t max_length;  ///< of the model, which may be taken
  RunSignals signals;
  Examples examples;
  Watch watch;
  train::Pairs encoded = {};  ///< checksums of the files that `Run::encode` has read
  page::RunPageOptions page = {};
  bool model_taken = false;
  bool examples_taken = false;
  bool sink_taken = false;
  bool optimizer_made = false;
  bool fitted = false;

  explicit State(const Program& of)
      : program{of},
        prepared{prepare(program)},
        max_length{prepared.model.max_length()},
        signals{program.series, prepared.stop_options()},
        examples{read_examples(program, prepared)},
        watch{program.processes.is_first()} {}

  template <class T>
  static T take(bool& taken, const std::string& name, T value) {
    if (std::exchange(taken, true)) {
      throw Error{"the run's " + name + " was taken before; a run gives each part once"};
    }
    return value;
  }

  [[nodiscard]] data::BucketLoader dev_loader(data::EncodedSet set,
                                              const data::Shard& shard) const {
    auto options = prepared.flags.dev_batches(shard);
    if (prepared.flags.texts_apart) options = data::in_pairs(set, std::move(options));
    return data::BucketLoader{std::move(set), std::move(options)};
  }

  /// Returns what finds the window of an example that decided.
  [[nodiscard]] page::Explain passages(model::AnyClassifier& model) const {
    return {.passage = deciding_passages(prepared.tokenizer, model)};
  }

  /// Returns what also finds the words that decided.
  [[nodiscard]] page::Explain words(model::AnyClassifier& model) const {
    auto explain = passages(model);
    const auto longest =
        std::min(examples.train.max_length, static_cast<std::size_t>(model.longest_row()));
    explain.words =
        deciding_words(prepared.tokenizer, model, task_of(prepared), longest, program.device);
    return explain;
  }

  void save_rest(const page::Explain& explain) {
    save_predictions(prepared, examples, watch.predictions());
    watch.observers().finish_page(prepared.results, examples.test_is_dev(prepared.flags), explain);
  }

  /// Saves the results of a part of a cross-validation or a tuning, which leaves no model. Its
  /// figures come last, because they tell that it is finished.
  void save_part(const page::Explain& explain) {
    save_rest(explain);
    prepared.results.labels = prepared.labels.names();
    prepared.results.peak_memory_mib = peak_memory_mib();
    run::save(prepared.results, prepared.directory.metrics());
  }
};

SEQTRAIN_SEPARATE Run::Run(const Program& program) : state_{std::make_unique<State>(program)} {
  Prepared& prepared = state_->prepared;
  Examples& examples = state_->examples;
  choose_values(program, prepared, examples.train.set);
  if (prepared.labels.problem_type() == ProblemType::regression && !program.head) {
    begin_at_mean(prepared.model, examples.train.set);
  }
  auto loss = flags().loss_for<model::LossOptions>(examples.train.set, prepared.labels);
  const auto class_weights = loss.class_weights;
  prepared.model.set_loss(std::move(loss));
  if (flags().few_shot) learn_from_few(program, prepared, examples.train.set);
  // A teacher's targets replace the labels, of which simple models learn.
  (void)program.processes.once([&] {
    prepared.results.baseline =
        judge_baseline(program, prepared, examples, class_weights, state_->signals.token());
    return std::string{};
  });
  learn_from_teacher(program, prepared, examples, state_->signals.token());
  if (is_first()) state_->page = page_options(program, prepared, examples);
  if (flags().texts_apart) take_texts_apart(program, prepared, examples);
}
SEQTRAIN_SEPARATE Run::~Run() = default;

SEQTRAIN_SEPARATE const cli::TrainFlags& Run::flags() const {
  return state_->prepared.flags;
}
SEQTRAIN_SEPARATE const log::Log& Run::log() const {
  return state_->program.log;
}
SEQTRAIN_SEPARATE const data::Labels& Run::labels() const {
  return state_->prepared.labels;
}
SEQTRAIN_SEPARATE const text::AnyTokenizer& Run::tokenizer() const {
  return state_->prepared.tokenizer;
}
SEQTRAIN_SEPARATE c10::Device Run::device() const {
  return state_->program.device;
}

SEQTRAIN_SEPARATE const data::EncodedSet& Run::train_set() const {
  return state_->examples.train.set;
}
SEQTRAIN_SEPARATE data::EncodedSet Run::take_train_set() {
  return State::take(state_->examples_taken, "training set", std::move(state_->examples.train.set));
}

SEQTRAIN_SEPARATE data::EncodedSet Run::encode(const std::string& file) {
  if (file.empty()) {
    throw InputError{"run.encode is given no file: a flag of the program's own may be empty"};
  }
  state_->encoded.emplace_back("encoded file " + std::to_string(state_->encoded.size() + 1),
                               fingerprint_of_examples(file, flags().read_options()));
  FileEncoder encode{flags(), tokenizer(), labels(), state_->max_length, log()};
  if (flags().texts_apart) encode.set_texts(data::Texts::apart);
  return state_->program.processes.encode_once(encode, file).set;
}

SEQTRAIN_SEPARATE bool Run::is_first() const {
  return state_->program.processes.is_first();
}

SEQTRAIN_SEPARATE dist::Replicated<model::AnyClassifier> Run::model() {
  return replicate(take_model());
}
SEQTRAIN_SEPARATE model::AnyClassifier Run::take_model() {
  return State::take(state_->model_taken, "model", std::move(state_->prepared.model));
}

SEQTRAIN_SEPARATE data::LoaderOptions Run::loader_options() const {
  auto options = flags().train_batches(dist::shard_of(state_->program.processes.group(),
                                                      state_->prepared.replicas,
                                                      flags().gradient_accumulation_steps));
  if (flags().few_shot) return few_shot::pair_options(train_set(), std::move(options));
  return flags().texts_apart ? data::in_pairs(train_set(), std::move(options)) : options;
}

SEQTRAIN_SEPARATE data::BucketLoader Run::batches() {
  auto options = loader_options();
  return data::BucketLoader{take_train_set(), std::move(options)};
}

SEQTRAIN_SEPARATE sink::Any Run::sink() {
  return State::take(state_->sink_taken, "sink", std::move(state_->prepared.job));
}

SEQTRAIN_SEPARATE UsualTrainer Run::trainer() {
  auto trained = model();
  auto steps = optimizer(trained);
  return {std::move(trained), std::move(steps), batches(), sink()};
}

SEQTRAIN_SEPARATE void Run::check_fitted() const {
  if (state_->fitted) return;
  throw Error{"the program has not called fit of its run, so nothing was trained"};
}

SEQTRAIN_SEPARATE dist::Group& Run::group() {
  return state_->program.processes.group();
}

SEQTRAIN_SEPARATE dist::ReplicatedOptions Run::replicated_options() const {
  return {.replicas = state_->prepared.replicas,
          .accumulation = flags().gradient_accumulation_steps,
          .reduction = dist::reduction_named(flags().reduction),
          .own_stop = state_->signals.token()};
}

SEQTRAIN_SEPARATE optim::Averaged<optim::Any> Run::optimizer_of(
    std::span<const tensor::Parameter> parameters) const {
  const bool learns = std::ranges::any_of(
      parameters, [](const auto& parameter) { return parameter.gradient.defined(); });
  cli::require(learns || !flags().freeze_encoder, "freeze-encoder",
               "leaves nothing to train: the model has no head");
  if (!std::exchange(state_->optimizer_made, true)) {
    settle_rate_of_head(state_->program, state_->prepared, optim::tells_head(parameters));
  }
  const auto say = [this](const std::string& text) { log().info(text); };
  return {optim::make(flags().optimizer(), parameters, say), flags().ema_decay};
}

SEQTRAIN_SEPARATE void Run::check_scoring(bool has_predictions) const {
  if (has_predictions != flags().scored_by_loss) return;
  throw Error{has_predictions ? "the program is scored_by_loss, but its model has logits"
                              : "the model has no logits; scored_by_loss in the program's options "
                                "scores it by its loss"};
}

SEQTRAIN_SEPARATE data::BucketLoader Run::begin_fit(const data::Shard& shard) {
  if (!state_->optimizer_made && state_->program.parser.is_on_command_line("optim")) {
    log().warning("--optim: the program asked its run for no optimizer, so its own one trains");
  }
  if (is_first()) {
    state_->watch.observers() = open_run(state_->program, state_->prepared, std::move(state_->page),
                                         state_->watch.predictions());
  }
  return state_->dev_loader(std::move(state_->examples.dev.set), shard);
}

SEQTRAIN_SEPARATE train::FitOptions Run::fit_options(std::stop_token stop) const {
  auto options = flags().fit_options(state_->prepared.replicas, std::move(stop));
  options.more_settings = state_->encoded;
  return options;
}

SEQTRAIN_SEPARATE dist::SharedCheckpointer Run::checkpointer() {
  return {group(), state_->prepared.checkpointer()};
}

SEQTRAIN_SEPARATE Watch& Run::watch() {
  return state_->watch;
}

SEQTRAIN_SEPARATE bool Run::has_answers_of(const train::FitReport& report) {
  state_->prepared.results.dev = report.dev.at(report.epoch_of_model);
  return state_->watch.evaluated_epoch() == report.epoch_of_model + 1;
}

SEQTRAIN_SEPARATE std::optional<data::BucketLoader> Run::test_batches(const data::Shard& shard) {
  auto& test = state_->examples.test;
  if (!test) return std::nullopt;
  return state_->dev_loader(std::move(test->set), shard);
}

SEQTRAIN_SEPARATE void Run::take_test_report(const metrics::ClassificationReport& report) {
  state_->prepared.results.test = report;
}

SEQTRAIN_SEPARATE void Run::end_fit(const train::FitReport& report) {
  state_->fitted = true;
  if (!is_first()) return;
  run::Results& results = state_->prepared.results;
  Watch& watch = state_->watch;
  results.advice = run::advise(advice_facts(state_->prepared, state_->examples, state_->max_length,
                                            report, watch.training_loss(), watch.predictions()));
  const auto* const dev = watch.predictions().find("dev");
  if (flags().calibrates() && dev != nullptr) {
    results.calibration =
        run::calibrate(*dev, task_of(state_->prepared), flags().calibration_precision());
    log().info(run::to_text(*results.calibration, labels().names()));
  }
  watch.observers().complete(results);
  log().info(watch.observers().describe_machine());
  log().info(report::tables(results.test ? *results.test : *results.dev, labels().names()));
  for (const auto& advice : results.advice) log().warning(advice.text);
  if (!results.baseline) return;
  log().info("\n" + report::align(report::baseline_rows(*results.dev, *results.baseline)));
  log().warning(report::baseline_warning(*results.dev, *results.baseline));
}

SEQTRAIN_SEPARATE void Run::save_classifier(model::AnyClassifier& model) {
  if (flags().is_part()) return state_->save_part(state_->passages(model));
  save_model(state_->program, state_->prepared, model);
  state_->save_rest(state_->words(model));
}

SEQTRAIN_SEPARATE void Run::save_files(const run::ModelFiles& files) {
  if (flags().is_part()) return state_->save_part({});
  save_run(state_->program, state_->prepared, files, {.library = "seqtrain"});
  state_->save_rest({});
}

SEQTRAIN_SEPARATE Run::Publication Run::publication(const std::stop_token& stop) const {
  const run::RunDirectory& directory = state_->prepared.directory;
  return {.directory = directory.path(),
          .names = directory.results(),
          .folder = run::dated_model_folder(),
          .before_each = [stop] {
            if (stop.stop_requested()) throw train::Stopped{"stopped while publishing"};
          }};
}

SEQTRAIN_SEPARATE void Run::finish(const std::stop_token& stop) {
  const Prepared& prepared = state_->prepared;
  if (!flags().is_part()) {
    log().info("The model is in " + prepared.directory.path().string());
    prepared.repository->push(prepared.directory.model(), stop);
  }
  prepared.checkpoints->check();
  prepared.checkpoints->finish(flags(), prepared.directory);
  if (flags().is_part()) {  // others follow
    if (stop.stop_requested()) throw train::Stopped{"stopped after a run of several"};
    return;
  }
  const auto& started_as = state_->program.parser.started_as();
  log().lines(flags().scored_by_loss || state_->program.head
                  ? page_line(prepared.directory)
                  : next_commands(started_as, prepared.directory, state_->examples.dev_file));
}

#ifdef SEQTRAIN_SEPARATE_COMPILATION
template void Run::fit(UsualTrainer);
#endif

}  // namespace seqtrain::experiment
