#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <seqtrain/data/count_words.hpp>
#include <seqtrain/data/language_loader.hpp>
#include <seqtrain/model/awd_lstm_classifier.hpp>
#include <seqtrain/model/language_model.hpp>
#include <seqtrain/model/pretrained_words.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/text/word_list.hpp>
#include <seqtrain/text/word_tokenizer.hpp>
#include <seqtrain/train/stages.hpp>

#include "job.hpp"

/// ULMFiT (Howard and Ruder 2018): a language model is fine-tuned on the texts, then a classifier
/// on its encoder, thawed group by group.
class Ulmfit {
 public:
  static seqtrain::metrics::ClassificationReport train(const Job& job) { return Ulmfit{job}.run(); }

 private:
  explicit Ulmfit(const Job& job)
      : job_{job},
        words_{vocabulary()},
        tokenizer_{seqtrain::text::make_word_tokenizer(words_)},
        stages_{job.work / "ulmfit", job.settings(), seqtrain::report::say} {}

  seqtrain::metrics::ClassificationReport run() {
    auto train = job_.encode("train.csv", tokenizer_);
    auto valid = job_.load(job_.encode("valid.csv", tokenizer_));
    auto test = job_.load(job_.encode("test.csv", tokenizer_));
    auto classifier = make_classifier(train_language_model());
    for (std::size_t count = 1; count <= classifier.groups().size(); ++count) {
      const bool last = count == classifier.groups().size();
      stages_.run("classifier_" + std::to_string(count), classifier, [&](auto& model, auto saved) {
        model.train_last(count);
        job_.fit(model, optimizer(model), job_.load(train), last ? job_.epochs : 1, saved, valid);
      });
    }
    seqtrain::text::write_word_list(job_.work / "vocabulary.txt", words_);
    seqtrain::model::save_for_fastai(job_.work / "model.pth", classifier);
    return job_.evaluate(classifier, std::move(test));
  }

  seqtrain::model::LanguageModel train_language_model() {
    seqtrain::model::LanguageModel model{
        static_cast<std::int64_t>(words_.size()),
        {.shape = shape(), .seed = static_cast<std::uint64_t>(job_.seed)}};
    auto texts = job_.encode("train.csv", tokenizer_, false);
    if (has("unlabelled.txt")) texts.append(job_.encode("unlabelled.txt", tokenizer_, false));
    auto valid = streams(job_.encode("valid.csv", tokenizer_, false));
    const auto say = [&](const char* when) {
      const double found = seqtrain::model::perplexity(model, valid);
      seqtrain::report::say(std::string{"Perplexity "} + when + ": " + std::to_string(found));
    };
    if (has("pretrained.pth")) {
      load(model);
      say("of the pre-trained model");
      learn(model, "language_model_1", 1, texts, 1);
    }
    learn(model, "language_model", model.groups().size(), texts, job_.epochs);
    say("of the fine-tuned model");
    return model;
  }

  void learn(seqtrain::model::LanguageModel& language_model, const char* stage, std::size_t groups,
             const seqtrain::data::EncodedSet& texts, std::int64_t epochs) {
    stages_.run(stage, language_model, [&](auto& model, auto saved) {
      model.train_last(groups);
      job_.fit(model, optimizer(model), streams(texts), epochs, saved);
    });
  }

  seqtrain::model::AwdLstmClassifier make_classifier(const seqtrain::model::LanguageModel& source) {
    seqtrain::model::AwdLstmClassifier classifier{source.vocab_size(),
                                                  {.labels = job_.labels.names(),
                                                   .shape = shape(),
                                                   .seed = static_cast<std::uint64_t>(job_.seed)}};
    classifier.take_encoder(source);
    return classifier;
  }

  void load(seqtrain::model::LanguageModel& model) const {
    if (!has("vocabulary.txt")) {
      throw seqtrain::InputError{"is needed with pretrained.pth: the words of its rows, one a line",
                                 {.object = (job_.data / "vocabulary.txt").string()}};
    }
    seqtrain::model::load_pretrained(model, words_,
                                     seqtrain::weights::FastaiFile{job_.data / "pretrained.pth"},
                                     seqtrain::text::read_word_list(job_.data / "vocabulary.txt"));
  }

  [[nodiscard]] std::vector<std::string> vocabulary() const {
    seqtrain::text::WordCounts counts;
    const auto workers = static_cast<std::size_t>(job_.threads);
    seqtrain::data::count_words(job_.data / "train.csv", {.labelled = false}, workers, counts);
    if (has("unlabelled.txt")) {
      seqtrain::data::count_words(job_.data / "unlabelled.txt", {.lines = true}, workers, counts);
    }
    return counts.vocabulary();
  }

  /// As many streams side by side as the texts suffice for.
  [[nodiscard]] seqtrain::data::LanguageLoader streams(seqtrain::data::EncodedSet texts) const {
    const std::size_t most = std::max<std::size_t>(1, texts.tokens() / 140);
    return seqtrain::data::LanguageLoader{
        std::move(texts),
        {.batch_size = std::min(static_cast<std::size_t>(job_.batch_size), most),
         .seed = static_cast<std::uint64_t>(job_.seed)}};
  }

  template <class M>
  static seqtrain::optim::Adam optimizer(const M& model) {
    return seqtrain::optim::Adam{{.lr = 0.01,
                                  .beta1 = 0.7,
                                  .beta2 = 0.99,
                                  .lr_factors = seqtrain::optim::discriminative(model.groups())}};
  }

  [[nodiscard]] seqtrain::model::AwdLstmShape shape() const {
    return {.embedding = job_.embedding, .hidden = job_.hidden};
  }

  [[nodiscard]] bool has(const char* file) const {
    return std::filesystem::exists(job_.data / file);
  }

  const Job& job_;
  std::vector<std::string> words_;
  seqtrain::text::WordTokenizer tokenizer_;
  seqtrain::train::Stages stages_;
};
