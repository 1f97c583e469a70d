#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/data/count_words.hpp>
#include <seqtrain/experiment/stages.hpp>
#include <seqtrain/languages/job.hpp>
#include <seqtrain/languages/ulmfit_cycles.hpp>
#include <seqtrain/model/awd_lstm/awd_lstm_classifier.hpp>
#include <seqtrain/model/awd_lstm/language_model.hpp>
#include <seqtrain/model/awd_lstm/pretrained_words.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/text/loading/word_list.hpp>
#include <seqtrain/text/subword_tokenizer.hpp>
#include <seqtrain/text/word_tokenizer.hpp>

namespace seqtrain::languages {

/// Runs the stages of ULMFiT on the ids of a tokenizer for `words`.
template <class Tokenizer>
class UlmfitStages {
 public:
  UlmfitStages(const Job& job, std::vector<std::string> words, Tokenizer tokenizer)
      : job_{job},
        words_{std::move(words)},
        tokenizer_{std::move(tokenizer)},
        stages_{job.work / "ulmfit", job.settings(), report::notices_to(job.log)} {}

  metrics::ClassificationReport run() {
    auto train = job_.encode("train.csv", tokenizer_);
    auto valid = job_.load(job_.encode("valid.csv", tokenizer_));
    auto test = job_.load(job_.encode("test.csv", tokenizer_));
    auto classifier = make_classifier(train_language_model());
    for (std::size_t count = 1; count <= classifier.groups().size(); ++count) {
      const bool last = count == classifier.groups().size();
      stages_.run("classifier_" + std::to_string(count), classifier,
                  [&](auto& model, auto place, auto saved) {
                    model.train_last(count);
                    const auto report =
                        job_.fit(model, optimizer(model), job_.load(train), place,
                                 Job::slanted(last ? job_.epochs : 1, saved), valid);
                    if (last) job_.advise(report);
                  });
    }
    text::write_word_list(job_.work / "vocabulary.txt", words_);
    model::pretrained::save_for_fastai(job_.model_file(), classifier);
    return job_.evaluate(classifier, std::move(test));
  }

 private:
  model::LanguageModel train_language_model() {
    model::LanguageModel model{static_cast<std::int64_t>(words_.size()),
                               {.shape = shape(),
                                .padding_id = tokenizer_.pad_id(),
                                .seed = static_cast<std::uint64_t>(job_.seed),
                                .device = job_.device,
                                .backend = {.precision = job_.precision}}};
    auto valid = streams(job_, job_.encode("valid.csv", tokenizer_, false));
    const auto say = [&](const char* when) {
      const auto report = train::evaluate(model, valid, {.split = "valid"});
      job_.log.info(std::string{"Perplexity "} + when + ": " +
                    std::to_string(report.figures.front().value));
    };
    const bool is_pretrained = load_pretrained(job_, model, words_);
    say(is_pretrained ? "of the pre-trained model" : "of the fresh model");
    const std::int64_t epochs =
        job_.language_model_epochs < 0 ? job_.epochs : job_.language_model_epochs;
    if (epochs == 0) return model;
    auto texts = job_.encode("train.csv", tokenizer_, false);
    if (std::filesystem::exists(job_.data / "unlabelled.txt"))
      texts.append(job_.encode("unlabelled.txt", tokenizer_, false));
    if (is_pretrained) learn(model, "language_model_1", 1, texts, 1);
    learn(model, "language_model", model.groups().size(), texts, epochs);
    say("of the fine-tuned model");
    return model;
  }

  void learn(model::LanguageModel& language_model, const char* stage, std::size_t groups,
             const data::EncodedSet& texts, std::int64_t epochs) {
    stages_.run(stage, language_model, [&](auto& model, auto place, auto saved) {
      model.train_last(groups);
      job_.fit(model, optimizer(model), streams(job_, texts), place, Job::slanted(epochs, saved));
    });
  }

  model::AwdLstmClassifier make_classifier(const model::LanguageModel& source) {
    model::AwdLstmClassifier classifier{source.vocab_size(),
                                        {.labels = job_.labels.names(),
                                         .shape = shape(),
                                         .padding_id = tokenizer_.pad_id(),
                                         .seed = static_cast<std::uint64_t>(job_.seed),
                                         .device = job_.device,
                                         .backend = {.precision = job_.precision}}};
    classifier.take_encoder(source);
    return classifier;
  }

  template <class M>
  static optim::Adam optimizer(const M& model) {
    return optim::Adam{{.lr = 0.01,
                        .beta1 = 0.7,
                        .beta2 = 0.99,
                        .lr_factors = optim::discriminative(model.groups())}};
  }

  [[nodiscard]] model::AwdLstmShape shape() const {
    return {.embedding = job_.embedding, .hidden = job_.hidden};
  }

  const Job& job_;
  std::vector<std::string> words_;
  Tokenizer tokenizer_;
  experiment::Stages stages_;
};

/// Trains by ULMFiT (Howard and Ruder 2018): fine-tunes a language model on the texts, then a
/// classifier on its encoder, which is unfrozen group by group, or by cycles in a published layout.
/// A SentencePiece model, `subwords.model`, cuts the texts if there is one; otherwise they are cut
/// into words.
struct Ulmfit {
  using Report = metrics::ClassificationReport;

  /// Trains the classifier, saves it and returns its figures on the test part.
  static Report train(const Job& job) {
    const auto subwords = job.data / "subwords.model";
    return std::filesystem::exists(subwords) ? on_subwords(job, subwords) : on_words(job);
  }

 private:
  template <class Tokenizer>
  static Report run(const Job& job, std::vector<std::string> words, Tokenizer tokenizer) {
    if (job.published) return UlmfitCycles{job, std::move(words), std::move(tokenizer)}.run();
    return UlmfitStages{job, std::move(words), std::move(tokenizer)}.run();
  }

  static Report on_words(const Job& job) {
    auto words = vocabulary(job);
    auto tokenizer = text::make_word_tokenizer(words);
    return run(job, std::move(words), std::move(tokenizer));
  }

  static Report on_subwords(const Job& job, const std::filesystem::path& model) {
    auto tokenizer = text::load_subwords(model);
    auto pieces = tokenizer.pipeline().texts();
    const auto report = run(job, std::move(pieces), std::move(tokenizer));
    write_file_atomically(job.work / "subwords.model", MappedFile{model}.text());
    return report;
  }

  static std::vector<std::string> vocabulary(const Job& job) {
    text::WordCounts counts;
    const auto workers = static_cast<std::size_t>(job.threads);
    const auto unlabelled = job.data / "unlabelled.txt";
    const auto texts = job.data / (job.published ? Published::counted_file : "train.csv");
    data::count_words(texts, {.columns = job.columns, .labelled = false}, workers, counts);
    if (std::filesystem::exists(unlabelled)) {
      data::count_words(unlabelled, {.format = data::Format::lines}, workers, counts);
    }
    return counts.vocabulary({.most = static_cast<std::size_t>(job.vocabulary)});
  }
};

}  // namespace seqtrain::languages
