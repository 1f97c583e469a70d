#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>

#include <seqtrain/cli/stop_signals.hpp>
#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/data/loader.hpp>
#include <seqtrain/dist/replicated.hpp>
#include <seqtrain/dist/shared_keeper.hpp>
#include <seqtrain/experiment/advise.hpp>
#include <seqtrain/experiment/few_shot.hpp>
#include <seqtrain/experiment/learn.hpp>
#include <seqtrain/experiment/next_commands.hpp>
#include <seqtrain/experiment/prepare.hpp>
#include <seqtrain/experiment/save.hpp>
#include <seqtrain/experiment/watch.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/optim/any.hpp>
#include <seqtrain/optim/averaged.hpp>
#include <seqtrain/optim/make.hpp>
#include <seqtrain/report/table.hpp>
#include <seqtrain/run/advice.hpp>
#include <seqtrain/run/calibrate.hpp>
#include <seqtrain/run/run_directory.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/publish.hpp>
#include <seqtrain/train/selection.hpp>
#include <seqtrain/train/stopped.hpp>
#include <seqtrain/trainer.hpp>

namespace seqtrain::experiment {

/// The trainer of `mnli`, from which most programs differ in the values of its policies only.
using UsualTrainer = Trainer<dist::Replicated<model::AnyClassifier>, optim::Averaged<optim::Any>,
                             data::BucketLoader, sink::Any>;

/// A training run of a program that `experiment::run` has started. It makes the four policies of
/// a `Trainer` from the program's flags. A program may use its own in place of any of them; `fit`
/// then trains, evaluates, reports, saves and publishes the model. A killed run resumes to the same
/// bits, and all of it works with several processes.
class Run {
 public:
  /// Finds the inputs, loads the model and encodes the examples. `program` must outlive the run.
  /// Throws `InputError` if a flag, a file or another process does not fit.
  explicit Run(const Program& program)
      : program_{program},
        prepared_{prepare(program_)},
        max_length_{prepared_.model.max_length()},
        signals_{prepared_.stop_options()},
        examples_{read_examples(program_, prepared_)},
        watch_{.answers = run::AnswerKeeper{is_first()}} {
    prepared_.model.set_loss(
        flags().loss_for<model::LossOptions>(examples_.train.set, prepared_.labels));
    learn_from_teacher(program_, prepared_, examples_, signals_.token());
    if (flags().few_shot) learn_from_few(program_, prepared_, examples_.train.set);
    if (is_first()) page_ = page_options(program_, prepared_, examples_);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() = default;

  /// Returns the values of the flags, with local paths in place of other places.
  [[nodiscard]] const cli::TrainFlags& flags() const { return prepared_.flags; }
  [[nodiscard]] const log::Log& log() const { return program_.log; }
  [[nodiscard]] const data::Labels& labels() const { return prepared_.labels; }
  [[nodiscard]] const text::AnyTokenizer& tokenizer() const { return prepared_.tokenizer; }
  [[nodiscard]] c10::Device device() const { return program_.device; }

  /// Returns the encoded training examples, until `batches` takes them.
  [[nodiscard]] const data::EncodedSet& train_set() const { return examples_.train.set; }
  /// Takes the encoded training examples, for a loader of the program's own.
  [[nodiscard]] data::EncodedSet take_train_set() {
    return take(examples_taken_, "training set", std::move(examples_.train.set));
  }

  /// Encodes a further file as those of the flags are encoded. Call it in all processes. Throws
  /// `InputError` with file and line at the first wrong record.
  [[nodiscard]] data::EncodedSet encode(const std::string& file) {
    FileEncoder encode{flags(), tokenizer(), labels(), max_length_, log()};
    return program_.processes.encode_once(encode, file).set;
  }

  /// Tells whether this is the process that writes files and logs.
  [[nodiscard]] bool is_first() const { return program_.processes.is_first(); }

  /// Takes the model of `--model` with the loss of `--loss`, as a copy that learns with those of
  /// the other processes.
  [[nodiscard]] dist::Replicated<model::AnyClassifier> model() { return replicate(take_model()); }
  /// Takes that model as it is, for one of the program's own that is made of it.
  [[nodiscard]] model::AnyClassifier take_model() {
    return take(model_taken_, "model", std::move(prepared_.model));
  }

  /// Makes a model of the program's own one that learns with its copies in the other processes.
  /// Its parameters must have equal values in all processes.
  template <Classifier M>
  [[nodiscard]] dist::Replicated<M> replicate(M model) {
    return {std::move(model),
            program_.processes.group(),
            {.replicas = prepared_.replicas,
             .accumulation = flags().gradient_accumulation_steps,
             .reduction = dist::reduction_named(flags().reduction),
             .own_stop = signals_.token()}};
  }

  /// Returns the optimizer of `--optim` for a model's parameters, with their averages if
  /// `--ema-decay` asks for these.
  template <class M>
  [[nodiscard]] optim::Averaged<optim::Any> optimizer(const M& model) const {
    return {optim::make(flags().optimizer(), model.parameters()), flags().ema_decay};
  }

  /// Returns the options of the training loader. This process computes the batches of their shard.
  [[nodiscard]] data::LoaderOptions loader_options() const {
    auto options = flags().train_batches(dist::shard_of(
        program_.processes.group(), prepared_.replicas, flags().gradient_accumulation_steps));
    return flags().few_shot ? few_shot::pair_options(train_set(), std::move(options)) : options;
  }

  /// Takes the training examples into a loader that pads batches of similar lengths.
  [[nodiscard]] data::BucketLoader batches() {
    auto options = loader_options();
    return data::BucketLoader{take_train_set(), std::move(options)};
  }

  /// Takes the sink of `--job-dir`, which gets the results too.
  [[nodiscard]] sink::Any sink() { return take(sink_taken_, "sink", std::move(prepared_.job)); }

  /// Returns a trainer of these four policies.
  [[nodiscard]] UsualTrainer trainer() {
    auto trained = model();
    auto steps = optimizer(trained);
    return {std::move(trained), std::move(steps), batches(), sink()};
  }

  /// Trains, evaluates after each epoch and saves checkpoints; then evaluates the best model, and
  /// saves and publishes it with its figures, answers and page. Observers and metrics may follow.
  /// Throws what `Trainer::fit` throws.
  template <class T, class... Parts>
  void fit(T trainer, Parts&&... parts) {
    static_assert(
        requires { trainer.model().evaluation_shard(); },
        "the trainer's model must come from run.model() or run.replicate(model)");
    const auto stop = trainer.model().stop();
    data::BucketLoader dev{std::move(examples_.dev.set),
                           flags().dev_batches(trainer.model().evaluation_shard())};
    if (is_first())
      watch_.observers = open_run(program_, prepared_, std::move(page_), watch_.answers);
    dist::SharedKeeper keeper{program_.processes.group(), prepared_.keeper()};
    const auto report = trainer.fit(
        flags().fit_options(prepared_.replicas, stop), dev, train::BestModel{flags().best_model},
        watch_.matthews, watch_.answers, watch_.observers, watch_.last_dev, keeper, parts...);
    judge(trainer, dev, report, parts...);
    fitted_ = true;
    if (!is_first()) return;
    prepared_.results.advice =
        run::advise(advice_facts(prepared_, examples_, max_length_, report, watch_));
    summarize();
    save(program_, prepared_, examples_, trainer.model().model(), watch_);
    publish(trainer.sink(), stop);
  }

  /// Throws `Error` unless `fit` has trained a model.
  void check_fitted() const {
    if (!fitted_) throw Error{"the program has not called fit of its run, so nothing was trained"};
  }

 private:
  template <class T>
  static T take(bool& taken, const std::string& name, T value) {
    if (std::exchange(taken, true)) {
      throw Error{"the run's " + name + " was taken before; a run gives each part once"};
    }
    return value;
  }

  /// Evaluates the kept model on the dev file, unless that was done last, and on the test file.
  template <class T, class... Parts>
  void judge(T& trainer, data::BucketLoader& dev, const train::FitReport& report, Parts&... parts) {
    const auto stop = trainer.model().stop();
    run::Results& results = prepared_.results;
    results.dev = report.dev.at(report.epoch_of_model);
    // The answers are those of the last evaluation, which may be of another epoch than the model.
    if (watch_.last_dev.epoch != report.epoch_of_model + 1) {
      trainer.evaluate(dev, report.point("dev", stop), watch_.answers);
    }
    if (!examples_.test) return;
    data::BucketLoader test{std::move(examples_.test->set),
                            flags().dev_batches(trainer.model().evaluation_shard())};
    results.test = trainer.evaluate(test, report.point("test", stop), watch_.matthews,
                                    watch_.answers, watch_.observers, parts...);
  }

  /// Calibrates the model if that is asked for, and logs the figures of the run.
  void summarize() {
    run::Results& results = prepared_.results;
    const auto* const dev = watch_.answers.find("dev");
    if (flags().calibrates() && dev != nullptr) {
      results.calibration =
          run::calibrate(*dev, task_of(prepared_), flags().calibration_precision());
      log().info(run::to_text(*results.calibration, labels().names()));
    }
    watch_.observers.complete(results);
    log().info(watch_.observers.describe_machine());
    log().info(report::tables(results.test ? *results.test : *results.dev, labels().names()));
    for (const auto& advice : results.advice) log().warning(advice.text);
  }

  /// Copies the results to the sink and the model to the hub, then removes checkpoints that are not
  /// needed any more.
  template <class S>
  void publish(S& sink, const std::stop_token& stop) {
    const run::RunDirectory& directory = prepared_.directory;
    const auto folder = run::dated_model_folder();
    const auto before_each = [&stop] {
      if (stop.stop_requested()) throw train::Stopped{"stopped while publishing"};
    };
    if constexpr (Store<S>) {
      sink::publish_once(sink, directory.path(), directory.results(), folder, before_each);
    } else {
      sink::publish(sink, directory.path(), directory.results(), folder, before_each);
    }
    log().info("The model is in " + directory.path().string());
    prepared_.repository->push(directory.model(), stop);
    prepared_.checkpoints->check();
    prepared_.checkpoints->finish(flags(), directory);
    log().lines(next_commands(program_.parser.started_as(), directory, examples_.dev_file));
  }

  const Program& program_;
  Prepared prepared_;
  const std::int64_t max_length_;  ///< of the model, which may be taken
  cli::StopSignals signals_;
  Examples examples_;
  Watch watch_;
  page::RunPageOptions page_;
  bool model_taken_ = false;
  bool examples_taken_ = false;
  bool sink_taken_ = false;
  bool fitted_ = false;
};

#ifdef SEQTRAIN_SEPARATE_COMPILATION
extern template void Run::fit(UsualTrainer);
#endif

}  // namespace seqtrain::experiment
