#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <seqtrain/cli/run_settings.hpp>
#include <seqtrain/data/encode_file.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/data/loader.hpp>
#include <seqtrain/data/reversed.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/threshold_scores.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/report/console.hpp>
#include <seqtrain/report/log.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/train/checkpoint_options.hpp>
#include <seqtrain/train/pairs.hpp>
#include <seqtrain/trainer.hpp>

#include "published.hpp"

/// What is to be trained on what. A framework is a class with
/// `static metrics::ClassificationReport train(const Job&)`, which leaves `model.pth` in `work` and
/// returns the figures on test.csv.
struct Job {
  std::string lang = "en";
  std::filesystem::path data = {};  ///< the language's folder: train.csv, valid.csv, test.csv, …
  std::filesystem::path work = {};  ///< where the job is kept while it goes on
  seqtrain::data::Labels labels = seqtrain::data::Labels::sentiment();
  std::int64_t epochs = 10;
  std::int64_t language_model_epochs = -1;  ///< -1: as many as `epochs`
  std::int64_t vocabulary = 60'000;
  std::int64_t batch_size = 32;
  std::int64_t max_length = 512;
  std::int64_t embedding = 400;
  std::int64_t hidden = 1152;
  std::int64_t threads = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  std::int64_t seed = 1234;
  seqtrain::model::Precision precision = seqtrain::model::Precision::fp32;  ///< of products
  std::optional<Published> published = {};  ///< where the bucket is laid out like that
  std::stop_token stop = {};
  seqtrain::report::Log log{};

  /// Where a framework leaves the model.
  [[nodiscard]] std::filesystem::path model_file() const {
    return work / (published ? published->model_file : "model.pth");
  }

  /// All that the mathematics of the job follow from.
  [[nodiscard]] seqtrain::train::Pairs settings() const {
    seqtrain::train::Pairs pairs{{"data", seqtrain::cli::fingerprint(data)},
                                 {"epochs", std::to_string(epochs)},
                                 {"language-model-epochs", std::to_string(language_model_epochs)},
                                 {"vocabulary", std::to_string(vocabulary)},
                                 {"batch-size", std::to_string(batch_size)},
                                 {"max-length", std::to_string(max_length)},
                                 {"embedding", std::to_string(embedding)},
                                 {"hidden", std::to_string(hidden)},
                                 {"seed", std::to_string(seed)}};
    using seqtrain::model::Precision;
    const auto resolved = resolve(precision, c10::Device{c10::kCPU});
    if (resolved != Precision::fp32) pairs.emplace_back("precision", name(resolved));
    if (published) std::ranges::copy(published->settings(), std::back_inserter(pairs));
    return pairs;
  }

  /// A file's texts, with their labels or, for a language model, without.
  template <class Tokenizer>
  [[nodiscard]] seqtrain::data::EncodedSet encode(std::string_view file, const Tokenizer& tokenizer,
                                                  bool labelled = true) const {
    seqtrain::data::EncodeFileOptions options;
    options.read = {.labelled = labelled};
    if (file.ends_with(".txt")) options.read.format = seqtrain::data::Format::lines;
    if (labelled) options.encode.max_length = static_cast<std::size_t>(max_length);
    options.workers = static_cast<std::size_t>(threads);
    auto set = seqtrain::data::encode_file(data / file, tokenizer, labels, options).set;
    return published && published->backwards ? seqtrain::data::reversed(set) : std::move(set);
  }

  [[nodiscard]] seqtrain::data::BucketLoader load(seqtrain::data::EncodedSet set) const {
    return seqtrain::data::BucketLoader{
        std::move(set),
        {.plan = {.batch_size = static_cast<std::size_t>(batch_size)},
         .seed = static_cast<std::uint64_t>(seed)}};
  }

  /// Trains the model, keeping checkpoints in `checkpoints`. A dev loader and other parts of a fit
  /// may follow.
  template <class M, class O, class L, class... Parts>
  void fit(M& model, O optimizer, L loader, seqtrain::sink::Directory checkpoints,
           seqtrain::train::FitOptions options, Parts&&... parts) const {
    using namespace seqtrain;
    report::Console console{{.every = 50}, log};
    options.stop = stop;
    Trainer trainer{std::move(model), std::move(optimizer), std::move(loader),
                    std::move(checkpoints)};
    trainer.fit(options, parts..., console);
    model = std::move(trainer.model());
  }

  /// Options of a fit whose learning rate is a slanted triangle.
  [[nodiscard]] static seqtrain::train::FitOptions slanted(
      std::int64_t times, seqtrain::train::CheckpointOptions checkpoint) {
    return {.epochs = times,
            .max_grad_norm = 1,
            .schedule = {.type = seqtrain::optim::Schedule::Type::slanted_triangular},
            .checkpoint = std::move(checkpoint)};
  }

  /// Evaluates the model on the test part; in a published layout it also scores each label.
  template <class M>
  [[nodiscard]] seqtrain::metrics::ClassificationReport evaluate(
      M& model, seqtrain::data::BucketLoader loader) const {
    using namespace seqtrain;
    if (published) {
      metrics::ThresholdScores scores{published->threshold, labels.problem_type()};
      for (const auto& batch : loader.epoch(0)) {
        scores.add(model.logits(batch), batch.labels, batch.targets);
      }
      published->save_scores(work / published->score_file, labels, scores.scores(), log);
    }
    return train::evaluate(model, loader, {.split = "test", .stop = stop});
  }
};
