#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <c10/core/Device.h>

#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/data/describe.hpp>
#include <seqtrain/data/encode_file.hpp>
#include <seqtrain/data/encode_file_with.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/data/like_labels.hpp>
#include <seqtrain/data/loader.hpp>
#include <seqtrain/data/tokens_a_word.hpp>
#include <seqtrain/experiment/run_settings.hpp>
#include <seqtrain/languages/published.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/report/console.hpp>
#include <seqtrain/run/advice.hpp>
#include <seqtrain/run/kept_predictions.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/train/checkpoint_options.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/train/fit.hpp>
#include <seqtrain/train/pairs.hpp>
#include <seqtrain/trainer.hpp>

namespace seqtrain::languages {

/// The description of a job: its data and its options. A framework is a class with `static
/// metrics::ClassificationReport train(const Job&)`, which writes `model.pth` into `work` and
/// returns the figures on test.csv.
struct Job {
  std::string lang = "en";
  std::filesystem::path data = {};  ///< the language's folder: train.csv, valid.csv, test.csv, …
  std::filesystem::path work = {};  ///< directory of the job's files
  data::Labels labels = data::Labels::sentiment();
  std::int64_t epochs = 10;
  std::int64_t language_model_epochs = -1;  ///< -1 stands for `epochs`
  std::int64_t vocabulary = 60'000;
  std::int64_t batch_size = 32;
  std::int64_t max_length = 512;
  std::vector<std::string> columns = {};  ///< names of the columns of files without a header line
  std::int64_t embedding = 400;
  std::int64_t hidden = 1152;
  std::int64_t threads = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  std::int64_t seed = 1234;
  c10::Device device{c10::kCPU};
  model::Precision precision = model::Precision::fp32;  ///< precision of matrix products
  std::optional<Published> published = {};  ///< set if the bucket has a published layout
  std::stop_token stop = {};
  run::KeptPredictions* predictions = nullptr;  ///< gets those for test.csv, if it is set
  log::Log log{};

  /// Returns the path of the file into which a framework writes the model.
  [[nodiscard]] std::filesystem::path model_file() const {
    return work / (published ? published->model_file : "model.pth");
  }

  /// Returns the flags that determine the job's results.
  [[nodiscard]] train::Pairs settings() const {
    train::Pairs pairs{{"data", experiment::fingerprint(data)},
                       {"epochs", std::to_string(epochs)},
                       {"language-model-epochs", std::to_string(language_model_epochs)},
                       {"vocabulary", std::to_string(vocabulary)},
                       {"batch-size", std::to_string(batch_size)},
                       {"max-length", std::to_string(max_length)},
                       {"embedding", std::to_string(embedding)},
                       {"hidden", std::to_string(hidden)},
                       {"seed", std::to_string(seed)}};
    using model::Precision;
    const auto resolved = resolve(precision, device);
    if (resolved != Precision::fp32) pairs.emplace_back("precision", name(resolved));
    if (!columns.empty()) pairs.emplace_back("columns", cli::flag_text(columns));
    if (published) std::ranges::copy(published->settings(), std::back_inserter(pairs));
    return pairs;
  }

  /// Returns a file's texts with their labels, or without labels for a language model.
  template <class Tokenizer>
  [[nodiscard]] data::EncodedSet encode(std::string_view file, const Tokenizer& tokenizer,
                                        bool labelled = true) const {
    data::EncodeFileOptions options;
    options.read = {.columns = columns, .labelled = labelled};
    if (file.ends_with(".txt")) options.read = {.format = data::Format::lines};
    if (labelled) options.encode.max_length = static_cast<std::size_t>(max_length);
    options.workers = static_cast<std::size_t>(threads);
    auto encoded = data::encode_file(data / file, tokenizer, labels, options);
    auto& set = encoded.set;
    if (labelled && file == "train.csv") {
      if (!published) warn_of_labels(set);
      run::AdviceFacts facts = facts_for_advice();
      facts.training_examples = set.size();
      facts.cut_examples = encoded.at_max_length();
      facts.tokens_a_word = data::tokens_a_word(data / file, options.read, labels, tokenizer);
      facts.vocabulary = tokenizer.vocab_size();
      give_advice(facts);
    }
    return published && published->backwards ? data::reversed(set) : std::move(set);
  }

  /// Logs a warning if labels differ only in their spelling or often stand for a missing value.
  void warn_of_labels(const data::EncodedSet& set) const {
    using namespace data;
    const auto examples = label_counts(set, labels.problem_type(), labels.size());
    log.warning(like_label_warning(labels.names(), examples,
                                   "write those that mean the same in one way in train.csv"));
    log.warning(missing_label_warning(labels.names(), examples));
  }

  /// Logs what a classifier's fit, whose best epoch `metric` decides, says about the next job.
  void advise(const train::FitReport& report, const std::string& metric = {}) const {
    run::AdviceFacts facts = facts_for_advice();
    facts.dev = report.dev;
    facts.epoch_of_model = report.epoch_of_model;
    facts.selection.metric = metric;
    facts.steps = report.steps;
    give_advice(facts);
  }

  /// Returns the batches of a set of texts, of similar lengths.
  [[nodiscard]] data::BucketLoader load(data::EncodedSet set) const {
    return data::BucketLoader{std::move(set),
                              {.plan = {.batch_size = static_cast<std::size_t>(batch_size)},
                               .seed = static_cast<std::uint64_t>(seed)}};
  }

  /// Trains the model with checkpoints in `checkpoints`, and returns the report. A dev loader and
  /// other arguments of `Trainer::fit` may follow.
  template <class M, class O, class L, class... Parts>
  train::FitReport fit(M& model, O optimizer, L loader, sink::Directory checkpoints,
                       train::FitOptions options, Parts&&... parts) const {
    report::Console console{{}, log};
    options.stop = stop;
    Trainer trainer{std::move(model), std::move(optimizer), std::move(loader),
                    std::move(checkpoints)};
    auto report = trainer.fit(options, parts..., console);
    model = std::move(trainer.model());
    return report;
  }

  /// Returns the facts that all advice of this program begins with.
  [[nodiscard]] run::AdviceFacts facts_for_advice() const {
    return {.labels = labels.names(),
            .max_length = static_cast<std::size_t>(max_length),
            .has_flag = [](std::string_view flag) { return flag == "epochs"; }};
  }

  /// Logs what the facts say as warnings.
  void give_advice(const run::AdviceFacts& facts) const {
    for (const auto& advice : run::advise(facts)) log.warning(advice.text);
  }

  /// Returns options of a fit whose learning rate follows a slanted triangle.
  [[nodiscard]] static train::FitOptions slanted(std::int64_t times,
                                                 train::CheckpointOptions checkpoint) {
    return {.epochs = times,
            .max_grad_norm = 1,
            .schedule = {.type = optim::Schedule::Type::slanted_triangular},
            .checkpoint = std::move(checkpoint)};
  }

  /// Evaluates the model on the test part. In a published layout it also scores each label.
  template <class M>
  [[nodiscard]] metrics::ClassificationReport evaluate(M& model, data::BucketLoader loader) const {
    if (published) {
      metrics::ThresholdScores scores{published->threshold, labels.problem_type()};
      for (const auto& batch : loader.epoch(0)) {
        scores.add(model.logits(batch), batch.labels, batch.targets);
      }
      published->save_scores(work / published->score_file, labels, scores.scores(), log);
    }
    struct Notices {
      std::function<void(const train::Notice&)> on_notice;
      void on(const train::Notice& notice) const { on_notice(notice); }
    } const notices{report::notices_to(log)};
    run::KeptPredictions none{false};
    return train::evaluate(model, loader, {.split = "test", .stop = stop}, notices,
                           predictions == nullptr ? none : *predictions);
  }
};

}  // namespace seqtrain::languages
