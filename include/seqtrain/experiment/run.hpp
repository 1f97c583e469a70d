#pragma once

#include <concepts>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/data/loader.hpp>
#include <seqtrain/dist/replicated.hpp>
#include <seqtrain/dist/shared_checkpointer.hpp>
#include <seqtrain/experiment/watch.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/optim/any.hpp>
#include <seqtrain/optim/averaged.hpp>
#include <seqtrain/run/kept_predictions.hpp>
#include <seqtrain/run/model_files.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/publish.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/train/selection.hpp>
#include <seqtrain/trainer.hpp>

namespace seqtrain::text {
class AnyTokenizer;
}  // namespace seqtrain::text

namespace seqtrain::experiment {

struct Program;

namespace detail {

/// Fails to compile, with one plain sentence, unless `Run::fit` can train by the trainer.
template <class T>
consteval void check_trainer() {
  constexpr bool is_trainer = requires(T & trainer) {
    trainer.model();
    trainer.sink();
  };
  static_assert(is_trainer, "run.fit takes a seqtrain::Trainer");
  if constexpr (is_trainer) {
    using Model = std::remove_cvref_t<decltype(std::declval<T&>().model())>;
    constexpr bool is_replicated = requires(const Model& model) {
      model.evaluation_shard();
    };
    static_assert(is_replicated,
                  "the trainer's model must come from run.model() or run.replicate(model)");
    static_assert(!is_replicated || std::same_as<typename Model::batch_type, data::Batch>,
                  "the trainer's model must take data::Batch, as run reads --dev-file into these");
    if constexpr (is_replicated) {
      static_assert(Restorable<std::remove_cvref_t<decltype(std::declval<Model&>().model())>>,
                    "a model of run.fit needs state_dict() and load_state_dict(tensors)");
    }
  }
}

}  // namespace detail

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
  explicit Run(const Program& program);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run();

  /// Returns the values of the flags, with local paths in place of other places.
  [[nodiscard]] const cli::TrainFlags& flags() const;
  [[nodiscard]] const log::Log& log() const;
  [[nodiscard]] const data::Labels& labels() const;
  /// Returns the tokenizer. Include <seqtrain/text.hpp> to use it.
  [[nodiscard]] const text::AnyTokenizer& tokenizer() const;
  [[nodiscard]] c10::Device device() const;

  /// Returns the encoded training examples, until `batches` takes them.
  [[nodiscard]] const data::EncodedSet& train_set() const;
  /// Takes the encoded training examples, for a loader of the program's own.
  [[nodiscard]] data::EncodedSet take_train_set();

  /// Encodes a further file as those of the flags are encoded, with a row for each text if
  /// `ProgramOptions::texts_apart` says so. Call it in all processes. Throws
  /// `InputError` with file and line at the first wrong record.
  [[nodiscard]] data::EncodedSet encode(const std::string& file);

  /// Tells whether this is the process that writes files and logs.
  [[nodiscard]] bool is_first() const;

  /// Takes the model of `--model` with the loss of `--loss`, as a copy that learns with those of
  /// the other processes.
  [[nodiscard]] dist::Replicated<model::AnyClassifier> model();
  /// Takes that model as it is, for one of the program's own that is made of it.
  [[nodiscard]] model::AnyClassifier take_model();

  /// Makes a model of the program's own one that learns with its copies in the other processes.
  /// Its parameters must have equal values in all processes.
  template <class M>
  requires Classifier<M> || ScoredByLoss<M>  //
  [[nodiscard]] dist::Replicated<M> replicate(M model) {
    return {std::move(model), group(), replicated_options()};
  }
  /// Fails to compile: the model is neither.
  template <class M>
  void replicate(M) {
    static_assert(Classifier<M> || ScoredByLoss<M>,
                  "run.replicate takes a model that has accumulate and parameters, and logits or "
                  "losses of data::Batch");
  }

  /// Returns the optimizer of `--optim` for a model's parameters, with their averages if
  /// `--ema-decay` asks for these.
  template <class M>
  [[nodiscard]] optim::Averaged<optim::Any> optimizer(const M& model) const {
    return optimizer_of(model.parameters());
  }

  /// Returns the options of the training loader. This process computes the batches of their shard.
  [[nodiscard]] data::LoaderOptions loader_options() const;

  /// Takes the training examples into a loader that pads batches of similar lengths.
  [[nodiscard]] data::BucketLoader batches();

  /// Takes the sink of `--job-dir`, which gets the results too.
  [[nodiscard]] sink::Any sink();

  /// Returns a trainer of these four policies.
  [[nodiscard]] UsualTrainer trainer();

  /// Trains, evaluates after each epoch and saves checkpoints; then evaluates the best model, and
  /// saves and publishes it with its figures, predictions and page. Observers and metrics may
  /// follow. Throws what `Trainer::fit` throws.
  template <class T, class... Parts>
  void fit(T trainer, Parts&&... parts);

  /// Throws `Error` unless `fit` has trained a model.
  void check_fitted() const;

 private:
  struct State;

  [[nodiscard]] dist::Group& group();
  [[nodiscard]] dist::ReplicatedOptions replicated_options() const;
  [[nodiscard]] optim::Averaged<optim::Any> optimizer_of(
      std::span<const tensor::Parameter> parameters) const;

  /// Throws `Error` unless the program has said by `scored_by_loss` whether the model makes
  /// predictions.
  void check_scoring(bool has_predictions) const;
  /// Creates the run's directory and returns the dev batches.
  [[nodiscard]] data::BucketLoader begin_fit(const data::Shard& shard);
  [[nodiscard]] train::FitOptions fit_options(std::stop_token stop) const;
  [[nodiscard]] dist::SharedCheckpointer checkpointer();
  [[nodiscard]] Watch& watch();
  /// Takes the dev report of the kept model. Tells whether the predictions are that model's: they
  /// are those of the last evaluation, which may be of another epoch.
  [[nodiscard]] bool has_answers_of(const train::FitReport& report);
  [[nodiscard]] std::optional<data::BucketLoader> test_batches(const data::Shard& shard);
  void take_test_report(const metrics::ClassificationReport& report);
  /// Calibrates the model if that is asked for, and logs the figures of the run and its advice.
  void end_fit(const train::FitReport& report);

  /// Saves the model, the figures, the predictions and the page in the run's directory. The folder
  /// of a model of the program's own has the weights and the tokenizer, but no config.json, unless
  /// the model has a member `save_pretrained(directory)`.
  template <class M>
  void save(M& model) {
    if constexpr (std::derived_from<M, model::AnyClassifier>) {
      save_classifier(model);
    } else {
      run::with_files_of(model, [this](const run::ModelFiles& files) { save_files(files); });
    }
  }
  void save_classifier(model::AnyClassifier& model);
  void save_files(const run::ModelFiles& files);

  /// Copies the results to the sink and the model to the hub, then removes checkpoints that are not
  /// needed any more.
  template <class S>
  void publish(S& sink, const std::stop_token& stop) {
    if (flags().is_part()) return finish(stop);
    const auto [directory, names, folder, before_each] = publication(stop);
    if constexpr (Store<S>) {
      sink::publish_once(sink, directory, names, folder, before_each);
    } else {
      sink::publish(sink, directory, names, folder, before_each);
    }
    finish(stop);
  }
  struct Publication {
    std::filesystem::path directory;
    std::vector<std::string> names;
    std::string folder;
    std::function<void()> before_each;
  };
  [[nodiscard]] Publication publication(const std::stop_token& stop) const;
  void finish(const std::stop_token& stop);

  std::unique_ptr<State> state_;
};

// It is outside the class so that it is not inline: compilers instantiate inline functions in spite
// of `extern template`.
template <class T, class... Parts>
void Run::fit(T trainer, Parts&&... parts) {
  static_assert((detail::check_trainer<T>(), true));
  constexpr bool has_predictions =
      Classifier<std::remove_cvref_t<decltype(std::declval<T&>().model())>>;
  check_scoring(has_predictions);
  const auto with_metrics = [](const auto& use) {
    metrics::Matthews matthews;
    if constexpr (has_predictions) {
      return use(matthews);
    } else {
      return use();
    }
  };
  const data::Shard shard = trainer.model().evaluation_shard();
  const std::stop_token stop = trainer.model().stop();
  with_metrics([&](auto&... metrics) {  // before anything is written
    fit_options(stop).selection().check(train::empty_report(trainer.model(), metrics..., parts...));
  });
  auto dev = begin_fit(shard);
  auto checkpointer = this->checkpointer();
  const auto report = with_metrics([&](auto&... metrics) {
    return trainer.fit(fit_options(stop), dev, train::BestModel{flags().best_model}, metrics...,
                       watch(), checkpointer, parts...);
  });
  const bool has_answers = has_answers_of(report);
  if constexpr (has_predictions) {
    if (!has_answers) trainer.evaluate(dev, report.point("dev", stop), watch().predictions());
  }
  if (auto test = test_batches(shard)) {
    take_test_report(with_metrics([&](auto&... metrics) {
      return trainer.evaluate(*test, report.point("test", stop), metrics..., watch(), parts...);
    }));
  }
  end_fit(report);
  if (!is_first()) return;
  save(trainer.model().model());
  publish(trainer.sink(), stop);
}

#ifdef SEQTRAIN_SEPARATE_COMPILATION
extern template void Run::fit(UsualTrainer);
#endif

}  // namespace seqtrain::experiment

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/experiment/src/run.hpp>
#endif
