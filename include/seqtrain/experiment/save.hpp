#pragma once

#include <concepts>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/data/visit_examples.hpp>
#include <seqtrain/experiment/deciding_passages.hpp>
#include <seqtrain/experiment/prepare.hpp>
#include <seqtrain/experiment/watch.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/run/predictions.hpp>
#include <seqtrain/run/save_run.hpp>
#include <seqtrain/storage/place.hpp>
#include <seqtrain/text/loading/save_tokenizer.hpp>

namespace seqtrain::experiment {

/// Returns the answers to a split for predictions.jsonl.
[[nodiscard]] inline run::PredictedSplit predicted(const std::string& name,
                                                   const run::Answers* answers,
                                                   const std::string& file, std::size_t left_out,
                                                   const data::ReadOptions& read,
                                                   const Prepared& run,
                                                   std::span<const std::size_t> rows = {}) {
  run::PredictedSplit split{.name = name, .answers = answers};
  if (left_out > 0 || !rows.empty()) {
    split.records = data::record_numbers(file, read, run.labels, rows);
  }
  return split;
}

/// Saves a run with this model. The model card says what it is made from.
template <class M>
void save_run(const Program& program, const Prepared& run, const M& model, run::CardFacts facts) {
  const auto save_tokenizer = [&run](const auto& directory) {
    text::save_tokenizer(run.tokenizer, directory);
  };
  facts.license = run::license_of(run.flags.model);
  facts.dataset = run.dataset;
  facts.base_model = storage::name_on_hub(program.given.model);
  run::save_run(run.directory, model, save_tokenizer, run.results, std::move(facts));
}

/// Saves the model and the figures. With `--merge-adapter` the base is loaded again, because the
/// passes have not kept it as it was, and the adapter is merged into it.
inline void save_model(const Program& program, const Prepared& run,
                       const model::AnyClassifier& model) {
  const cli::TrainFlags& flags = run.flags;
  const auto save = [&](const model::AnyClassifier& saved) {
    save_run(program, run, saved, {.is_sentence_encoder = saved.config().sentence.has_value()});
  };
  if (!flags.merge_adapter) return save(model);
  const auto adapter = run.directory.partial_model();
  model.save_pretrained(adapter);
  // A model with these options has no gradients and is not packed.
  const model::ClassifierOptions fixed{.freeze_encoder = true, .autograd = true};
  const auto whole = model::load_classifier(adapter, fixed, flags.model);
  std::filesystem::remove_all(adapter);
  save(whole);
}

/// Saves the answers to the dev file and the test file.
inline void save_predictions(const Prepared& run, const Examples& examples, const Watch& watch) {
  const cli::TrainFlags& flags = run.flags;
  std::vector<run::PredictedSplit> splits;
  if (const auto* const dev = watch.answers.find("dev")) {
    splits.push_back(predicted("dev", dev, examples.dev_file, examples.dev.left_out,
                               examples.dev_read, run, examples.dev_rows));
  }
  if (const auto* const test = watch.answers.find("test"); test && !examples.test_is_dev(flags)) {
    splits.push_back(predicted("test", test, flags.test_file, examples.test->left_out,
                               flags.read_options(data::Split::test), run));
  }
  const auto task = task_of(run);
  run::write_predictions(run.directory.predictions(), splits,
                         run.results.calibration ? run.results.calibration->apply(task) : task);
}

/// Saves the model, the figures, the answers and the page in the run's directory. The folder of a
/// model of the program's own has the weights and the tokenizer, but no config.json, unless the
/// model has a member `save_pretrained(directory)`.
template <class M>
void save(const Program& program, const Prepared& run, const Examples& examples, M& model,
          Watch& watch) {
  page::RunPage::Explain explain;
  if constexpr (std::derived_from<M, model::AnyClassifier>) {
    save_model(program, run, model);
    explain = deciding_passages(run.tokenizer, model);
  } else {
    save_run(program, run, model, {.library = "seqtrain"});
  }
  save_predictions(run, examples, watch);
  watch.observers.finish_page(run.results, examples.test_is_dev(run.flags), explain);
}

}  // namespace seqtrain::experiment
