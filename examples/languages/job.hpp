#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <seqtrain/cli/run_settings.hpp>
#include <seqtrain/data/encode_file.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/data/loader.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/report/console.hpp>
#include <seqtrain/report/log.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/train/checkpoint_options.hpp>
#include <seqtrain/train/pairs.hpp>
#include <seqtrain/trainer.hpp>

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
  std::stop_token stop = {};
  seqtrain::report::Log log{};

  /// All that the mathematics of the job follow from.
  [[nodiscard]] seqtrain::train::Pairs settings() const {
    return {{"data", seqtrain::cli::fingerprint(data)},
            {"epochs", std::to_string(epochs)},
            {"language-model-epochs", std::to_string(language_model_epochs)},
            {"vocabulary", std::to_string(vocabulary)},
            {"batch-size", std::to_string(batch_size)},
            {"max-length", std::to_string(max_length)},
            {"embedding", std::to_string(embedding)},
            {"hidden", std::to_string(hidden)},
            {"seed", std::to_string(seed)}};
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
    return seqtrain::data::encode_file(data / file, tokenizer, labels, options).set;
  }

  [[nodiscard]] seqtrain::data::BucketLoader load(seqtrain::data::EncodedSet set) const {
    return seqtrain::data::BucketLoader{
        std::move(set),
        {.plan = {.batch_size = static_cast<std::size_t>(batch_size)},
         .seed = static_cast<std::uint64_t>(seed)}};
  }

  /// Trains the model, keeping checkpoints in `checkpoints`; evaluates it on `dev` where there is
  /// one.
  template <class M, class O, class L, class... Dev>
  void fit(M& model, O optimizer, L loader, std::int64_t times,
           seqtrain::sink::Directory checkpoints, seqtrain::train::CheckpointOptions options,
           Dev&... dev) const {
    using namespace seqtrain;
    report::Console console{{.every = 50}, log};
    Trainer trainer{std::move(model), std::move(optimizer), std::move(loader),
                    std::move(checkpoints)};
    trainer.fit({.epochs = times,
                 .max_grad_norm = 1,
                 .schedule = {.type = optim::Schedule::Type::slanted_triangular},
                 .checkpoint = std::move(options),
                 .stop = stop},
                dev..., console);
    model = std::move(trainer.model());
  }

  template <class M>
  [[nodiscard]] seqtrain::metrics::ClassificationReport evaluate(
      M& model, seqtrain::data::BucketLoader loader) const {
    return seqtrain::train::evaluate(model, loader, {.split = "test", .stop = stop});
  }
};
