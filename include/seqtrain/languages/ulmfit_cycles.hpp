#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/cli/flags.hpp>
#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/experiment/stages.hpp>
#include <seqtrain/languages/language_model.hpp>
#include <seqtrain/languages/published_model.hpp>
#include <seqtrain/model/awd_lstm/awd_lstm_classifier.hpp>
#include <seqtrain/model/awd_lstm/pretrained_words.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/report/curve.hpp>
#include <seqtrain/train/find_learning_rate.hpp>
#include <seqtrain/train/selection.hpp>

namespace seqtrain::languages {

/// Runs ULMFiT as the published job does with fastai: a language model, then a classifier on its
/// encoder. Each has one cycle with a frozen body, at the rate that a range test suggests, and one
/// cycle with all weights at 1e-3. A cycle ends with the weights of its best epoch.
template <class Tokenizer>
class UlmfitCycles {
 public:
  UlmfitCycles(const Job& job, std::vector<std::string> words, Tokenizer tokenizer)
      : job_{job},
        words_{std::move(words)},
        tokenizer_{std::move(tokenizer)},
        from_{read_published_model(job.data, {.embedding = job.embedding, .hidden = job.hidden})},
        directory_{job.work / "ulmfit"},
        stages_{directory_, job.settings(), report::notices_to(job.log)} {}

  metrics::ClassificationReport run() {
    const auto texts = job_.encode("train.csv", tokenizer_);
    const auto train = [&] { return job_.load(texts); };
    auto valid = job_.load(job_.encode("valid.csv", tokenizer_));
    auto test = job_.load(job_.encode("test.csv", tokenizer_));
    const auto dropout = from_.classifier.scaled(job_.published->drop_mult);
    cli::require(dropout.greatest() < 1, "drop-mult",
                 "makes a dropout rate of the classifier 1 or more");
    model::AwdLstmClassifier classifier{static_cast<std::int64_t>(words_.size()),
                                        {.labels = job_.labels.names(),
                                         .problem_type = job_.labels.problem_type(),
                                         .shape = from_.shape,
                                         .dropout = dropout,
                                         .bptt = bptt,
                                         .padding_id = tokenizer_.pad_id(),
                                         .seed = static_cast<std::uint64_t>(job_.seed),
                                         .device = job_.device,
                                         .backend = {.precision = job_.precision}}};
    classifier.take_encoder(train_language_model());
    const std::size_t all = classifier.groups().size();
    const auto learn = [&](const std::string& stage, std::size_t groups, std::int64_t epochs) {
      cycle({stage, groups, epochs, job_.published->metric()}, classifier, train, valid);
    };
    learn("classifier_frozen", 1, job_.epochs);
    if (job_.published->gradual_unfreezing) {
      for (std::size_t count = 2; count < all; ++count) {
        learn("classifier_" + std::to_string(count), count, 1);
      }
    }
    learn("classifier", all, job_.epochs);
    text::write_word_list(job_.work / "vocabulary.txt", words_);
    model::pretrained::save_for_fastai(job_.model_file(), classifier);
    return job_.evaluate(classifier, std::move(test));
  }

 private:
  static constexpr std::int64_t bptt = 72;

  model::LanguageModel train_language_model() {
    model::LanguageModel model{static_cast<std::int64_t>(words_.size()),
                               {.shape = from_.shape,
                                .dropout = from_.dropout,
                                .padding_id = tokenizer_.pad_id(),
                                .seed = static_cast<std::uint64_t>(job_.seed),
                                .device = job_.device,
                                .backend = {.precision = job_.precision}}};
    const bool is_pretrained = load_pretrained(job_, model, words_);
    const std::int64_t epochs =
        job_.language_model_epochs < 0 ? job_.epochs : job_.language_model_epochs;
    if (epochs == 0) return model;
    const auto texts = job_.encode("train.csv", tokenizer_, false);
    const auto train = [&] { return streams(job_, texts, bptt); };
    auto valid = streams(job_, job_.encode("valid.csv", tokenizer_, false), bptt);
    // A new body has learnt nothing that must be kept, so it trains from the first cycle on.
    const std::size_t all = model.groups().size();
    cycle({"language_model_frozen", is_pretrained ? 1 : all, epochs}, model, train, valid);
    cycle({"language_model", all, epochs}, model, train, valid);
    return model;
  }

  struct Cycle {
    std::string stage;
    std::size_t groups = 0;  ///< the last groups, which are trained
    std::int64_t epochs = 0;
    std::string metric = "loss";  ///< decides which epoch is best
  };

  /// Trains a model for one cycle. In a model's first cycle the rate is that of a range test, and
  /// groups below the last have a tenth of it. Later the rate is 1e-3, and `--rate-ratio` sets the
  /// rates of groups below the last.
  template <class M, class Train, class L>
  void cycle(const Cycle& cycle, M& given, const Train& train, L& valid) {
    stages_.run(cycle.stage, given, [&](auto& model, auto place, auto saved) {
      model.train_last(cycle.groups);
      const bool tests = cycle.stage.ends_with("_frozen");
      auto options = adam(tests ? suggested_rate(cycle.stage, model, train()) : 1e-3);
      options.lr_factors = tests
                               ? optim::last_group_first(model.groups())
                               : optim::discriminative(model.groups(), job_.published->rate_ratio);
      const auto report = job_.fit(model, optim::AdamW{std::move(options)}, train(), place,
                                   {.epochs = cycle.epochs,
                                    .schedule = {.type = optim::Schedule::Type::one_cycle},
                                    .metric_for_best_model = cycle.metric,
                                    .checkpoint = saved},
                                   valid, train::BestModel{});
      if (cycle.stage == "classifier") job_.advise(report, cycle.metric);
    });
  }

  /// Returns fastai's default options.
  static optim::AdamOptions adam(double rate) {
    return {.lr = rate, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-5, .weight_decay = 0.01};
  }

  /// Returns the rate that a range test suggests. The rate is stored beside its curve, so that a
  /// restarted job does not repeat the test.
  template <class M, class L>
  double suggested_rate(const std::string& stage, M& model, L loader) const {
    const auto file = directory_ / ("learning_rate_" + stage + ".json");
    if (std::filesystem::exists(file)) {
      return json::Document::load(file).root().at("suggestion").number();
    }
    const auto curve =
        train::find_learning_rate(model, optim::AdamW{adam(1)}, loader, {.stop = job_.stop});
    const double rate = curve.suggestion();
    job_.log.info("The range test suggests a learning rate of " + log::fixed(rate, 7) + " for " +
                  stage);
    write_file_atomically(directory_ / ("learning_rate_" + stage + ".svg"), report::svg(curve));
    json::Writer out{2};
    write_file_atomically(file,
                          out.begin_object().member("suggestion", rate).end_object().text() + "\n");
    return rate;
  }

  const Job& job_;
  std::vector<std::string> words_;
  Tokenizer tokenizer_;
  PublishedModel from_;
  std::filesystem::path directory_;
  experiment::Stages stages_;
};

}  // namespace seqtrain::languages
