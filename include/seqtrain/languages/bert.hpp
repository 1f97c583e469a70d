#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <utility>

#include <seqtrain/experiment/run_settings.hpp>
#include <seqtrain/experiment/stages.hpp>
#include <seqtrain/languages/job.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>
#include <seqtrain/weights/write_torch_file.hpp>

namespace seqtrain::languages {

/// A classifier with an encoder such as BERT from the language's `model/`, or the default
/// checkpoint.
struct Bert {
  /// Trains the classifier, saves it and returns its figures on the test part.
  static metrics::ClassificationReport train(const Job& given) {
    Job job = given;
    const auto own = job.data / "model";
    const auto directory =
        std::filesystem::exists(own) ? own : std::filesystem::path{"checkpoints/all-MiniLM-L6-v2"};
    const auto tokenizer = text::load_tokenizer(directory);
    if (tokenizer.windows()) {
      throw InputError{"reads texts in windows, which languages does not train",
                       {.object = directory.string()},
                       "name a model without long_texts in its tokenizer_config.json"};
    }
    auto classifier =
        model::load_classifier(directory, {.labels = job.labels.names(),
                                           .problem_type = job.labels.problem_type(),
                                           .tokenizer_size = tokenizer.vocab_size(),
                                           .seed = static_cast<std::uint64_t>(job.seed),
                                           .device = job.device,
                                           .precision = job.precision});
    job.max_length = std::min(job.max_length, classifier.max_length());
    auto train = job.encode("train.csv", tokenizer);
    auto valid = job.load(job.encode("valid.csv", tokenizer));
    auto test = job.load(job.encode("test.csv", tokenizer));

    auto settings = job.settings();
    settings.emplace_back("model", experiment::fingerprint(directory));
    const experiment::Stages stages{job.work / "bert", std::move(settings),
                                    report::notices_to(job.log)};
    stages.run("classifier", classifier, [&](auto& model, auto place, auto saved) {
      job.advise(job.fit(model, optim::Adam{{.lr = 2e-5}}, job.load(std::move(train)), place,
                         Job::slanted(job.epochs, saved), valid));
    });
    weights::write_torch_file(job.model_file(), classifier.state_dict().views());
    return job.evaluate(classifier, std::move(test));
  }
};

}  // namespace seqtrain::languages
