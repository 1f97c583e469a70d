#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <seqtrain/data/describe.hpp>
#include <seqtrain/data/encoded_file.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/page/html/chart.hpp>
#include <seqtrain/page/run_log.hpp>
#include <seqtrain/predict/word_shares.hpp>
#include <seqtrain/report/table.hpp>
#include <seqtrain/run/advice.hpp>
#include <seqtrain/run/calibrate.hpp>
#include <seqtrain/run/kept_predictions.hpp>
#include <seqtrain/train/pairs.hpp>
#include <seqtrain/train/selection.hpp>

namespace seqtrain::page {

/// The facts that a page shows about a file of examples.
struct SetFacts {
  std::string file = {};
  std::size_t examples = 0;
  std::size_t left_out = 0;               ///< records without a gold label
  std::size_t at_max_length = 0;          ///< examples that were cut, or just fit
  std::vector<html::Point> lengths = {};  ///< share of examples by length in tokens
  std::vector<std::int64_t> labels = {};  ///< examples with each label
};

/// Counts the lengths and the labels of a file's examples.
[[nodiscard]] inline SetFacts set_facts(const std::string& name, const data::EncodedFile& file,
                                        const predict::Task& task) {
  constexpr std::size_t bins = 40;
  const auto& set = file.set;
  SetFacts facts{.file = name,
                 .examples = set.size(),
                 .left_out = file.left_out,
                 .at_max_length = file.at_max_length()};
  const auto labels = data::label_counts(set, task.problem_type, task.labels.size());
  facts.labels.assign(labels.begin(), labels.end());
  const std::size_t longest = std::max<std::size_t>(set.longest(), 1);
  const std::size_t width = (longest + bins) / bins;
  std::vector<std::size_t> counts(longest / width + 1);
  for (std::size_t row = 0; row < set.size(); ++row) ++counts[set.length(row) / width];
  for (std::size_t i = 0; i < counts.size(); ++i) {
    facts.lengths.push_back({static_cast<double>(i * width) + static_cast<double>(width) / 2,
                             static_cast<double>(counts[i]) / static_cast<double>(set.size())});
  }
  return facts;
}

/// The facts about a run that are known before it begins.
struct RunFacts {
  std::string name = {};         ///< the name of the directory
  std::string command = {};      ///< the command that repeats the run
  std::string model_place = {};  ///< the place where the model will be; "" if there is none
  train::Pairs changed = {};     ///< flags that differ from their defaults
  train::Pairs versions = {};
  train::Pairs machine = {};
  predict::Task task = {};
  train::Selection selection = {};
  std::int64_t max_length = 0;
  SetFacts train = {};
  SetFacts dev = {};
  bool texts = true;         ///< true if the page may show texts
  report::Rows trials = {};  ///< trials whose best values the run has, with a head; may be empty
};

/// The window of a text that decided its answer.
struct Passage {
  std::size_t index = 0;  ///< number of the window, from 0
  std::size_t count = 1;  ///< number of windows of the text
  std::string text = {};  ///< the part of the text that it reads
};

/// The text of an example with its place.
struct ExampleText {
  std::size_t row = 0;  ///< the row in the encoded set
  std::int64_t record = 0;
  std::string text = {};
  std::optional<std::string> pair = {};
  std::optional<Passage> passage = {};             ///< if the text was read in several windows
  std::optional<predict::Explanation> words = {};  ///< if the page shows the words that decided
};

/// The functions that tell how a model came to its answer. Each of them may be empty.
struct Explain {
  /// Returns the window of an example that decided, if it was read in several.
  std::function<std::optional<Passage>(const data::Example&)> passage = {};
  /// Returns the shares of an example's words in the logit of the predicted label.
  std::function<std::optional<predict::Explanation>(const data::Example&)> words = {};
};

/// Examples whose texts are nearly equal and whose labels differ.
using Conflict = std::vector<ExampleText>;

/// The content of a run's page.
struct PageContent {
  const RunFacts* facts = nullptr;
  RunLog log = {};
  const run::Predictions* dev = nullptr;   ///< null if there are none
  const run::Predictions* test = nullptr;  ///< null if there are none or they are dev's
  std::vector<ExampleText> texts = {};     ///< texts of examples of `dev`, ordered by row
  std::vector<Conflict> conflicts = {};
  std::size_t conflicts_left_out = 0;
  const run::Calibrated* calibrated = nullptr;
  std::vector<run::Advice> advice = {};  ///< if the run is finished
  report::Rows baseline = {};            ///< figures of this model and of simple ones
  std::string baseline_note = {};
  std::string status = {};  ///< such as "finished"
};

}  // namespace seqtrain::page
