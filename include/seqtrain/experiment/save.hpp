#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/data/visit_examples.hpp>
#include <seqtrain/experiment/open_run.hpp>
#include <seqtrain/experiment/prepare.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/run/kept_predictions.hpp>
#include <seqtrain/run/model_files.hpp>
#include <seqtrain/run/predictions.hpp>
#include <seqtrain/run/save_run.hpp>
#include <seqtrain/storage/place.hpp>
#include <seqtrain/text/loading/save_tokenizer.hpp>

namespace seqtrain::experiment {

/// Returns the predictions for a split for predictions.jsonl.
[[nodiscard]] inline run::PredictedSplit predicted(const std::string& name,
                                                   const run::Predictions* predictions,
                                                   const std::string& file, std::size_t left_out,
                                                   const data::ReadOptions& read,
                                                   const Prepared& run,
                                                   std::span<const std::size_t> rows = {}) {
  run::PredictedSplit split{.name = name, .predictions = predictions};
  if (left_out > 0 || !rows.empty() || read.split != data::Split::all) {
    split.records = data::record_numbers(file, read, run.labels, rows);
  }
  return split;
}

/// Saves a run with this model. The model card says what it is made from.
inline void save_run(const Program& program, const Prepared& run, const run::ModelFiles& model,
                     run::CardFacts facts) {
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
    // transformers has no class for a head of the program's own.
    const std::string library = program.head ? "seqtrain" : "";
    run::with_files_of(saved, [&](const run::ModelFiles& files) {
      save_run(program, run, files,
               {.library = library, .is_sentence_encoder = saved.config().sentence.has_value()});
    });
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

/// Saves the predictions for the dev file and the test file, if the model makes any.
inline void save_predictions(const Prepared& run, const Examples& examples,
                             const run::KeptPredictions& predictions) {
  const cli::TrainFlags& flags = run.flags;
  if (flags.scored_by_loss) return;
  std::vector<run::PredictedSplit> splits;
  if (const auto* const dev = predictions.find("dev")) {
    splits.push_back(predicted("dev", dev, examples.dev_file, examples.dev.left_out,
                               examples.dev_read, run, examples.dev_rows));
  }
  if (const auto* const test = predictions.find("test"); test && !examples.test_is_dev(flags)) {
    splits.push_back(predicted("test", test, flags.test_file, examples.test->left_out,
                               flags.read_options(data::Split::test), run));
  }
  const auto task = task_of(run);
  run::write_predictions(run.directory.predictions(), splits,
                         run.results.calibration ? run.results.calibration->apply(task) : task);
}

}  // namespace seqtrain::experiment
