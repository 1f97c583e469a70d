#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <seqtrain/baseline/judge.hpp>
#include <seqtrain/baseline/model.hpp>
#include <seqtrain/baseline/scores.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/visit_examples.hpp>
#include <seqtrain/experiment/prepare.hpp>
#include <seqtrain/experiment/teacher.hpp>
#include <seqtrain/log/format.hpp>

namespace seqtrain::experiment {

namespace detail {

/// A set of examples, and the file and the rows that its texts are in.
struct TextsOfSet {
  const data::EncodedSet& set;
  const std::string& file;
  data::ReadOptions read;
  std::vector<std::size_t> rows;  ///< empty if the set has all rows of the file, or its first ones
};

/// Calls use(row, example) for the examples that have a label.
template <class Use>
void visit_labelled(const TextsOfSet& texts, const data::Labels& labels, const Use& use) {
  const auto each = [&](const data::ExamplePlace& place, const data::Example& example) {
    if (place.row >= texts.set.size()) return;  // after --fraction-of-train-data
    const auto targets = texts.set.targets(place.row);
    const bool has_label =
        targets.empty() ? texts.set.label(place.row) >= 0 : !std::isnan(targets.front());
    if (has_label) use(place.row, example);
  };
  data::visit_examples(texts.file, texts.read, labels, each, texts.rows);
}

/// Returns how many of the examples are as many as one, so that a learner gets no more than it can
/// hold.
inline std::size_t examples_of_one(const TextsOfSet& texts, const data::Labels& labels,
                                   const baseline::LearnerOptions& options) {
  std::size_t examples = 0, bytes = 0;
  visit_labelled(texts, labels, [&](std::size_t, const data::Example& example) {
    ++examples;
    bytes += example.text.size() + example.text_pair.value_or("").size();
  });
  const auto parts = [](std::size_t whole, std::size_t most) { return (whole + most - 1) / most; };
  return std::max({std::size_t{1}, parts(examples, options.most_examples()),
                   parts(bytes, baseline::most_text_bytes)});
}

}  // namespace detail

/// Trains simple models on a run's training examples and returns their figures on its dev examples.
/// If there are more texts than fit in memory, they learn from every second or n-th example.
/// Returns nothing with `--no-baseline` and if no training example has a label. Throws `InputError`
/// if no text has a word.
[[nodiscard]] inline std::optional<baseline::Scores> judge_baseline(
    const Program& program, const Prepared& run, const Examples& examples,
    std::vector<double> class_weights) {
  const cli::TrainFlags& flags = run.flags;
  if (flags.no_baseline) return {};
  const auto start = std::chrono::steady_clock::now();
  const detail::TextsOfSet train{.set = examples.train.set,
                                 .file = flags.train_file,
                                 .read = train_read_options(flags),
                                 .rows = examples.train_rows};
  const detail::TextsOfSet dev{.set = examples.dev.set,
                               .file = examples.dev_file,
                               .read = examples.dev_read,
                               .rows = examples.dev_rows};
  const bool weighted = !class_weights.empty();
  const auto threads = static_cast<std::size_t>(flags.threads);
  const baseline::LearnerOptions options{.problem_type = run.labels.problem_type(),
                                         .labels = run.labels.size(),
                                         .class_weights = std::move(class_weights),
                                         .name = flags.train_file,
                                         .threads = threads};
  const std::size_t every = detail::examples_of_one(train, run.labels, options);
  baseline::Learner learner{options};
  detail::visit_labelled(train, run.labels, [&](std::size_t row, const data::Example& example) {
    if (row % every != 0) return;
    learner.add(example.text, example.text_pair, train.set.label(row), train.set.targets(row));
  });
  if (learner.examples() == 0) return {};
  const baseline::Model model = learner.learn();
  baseline::Judge judge{model, threads};
  detail::visit_labelled(dev, run.labels, [&](std::size_t row, const data::Example& example) {
    judge.add(example.text, example.text_pair, dev.set.label(row), dev.set.targets(row));
  });
  baseline::Scores scores = judge.scores();
  scores.examples = learner.examples();
  scores.weighted = weighted;
  scores.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto figure = baseline::headline(scores.linear, weighted);
  program.log.info("Baseline: a linear model on TF-IDF, " + std::to_string(scores.terms) +
                   " terms of " + std::to_string(scores.examples) + " examples: dev " +
                   std::string{figure.name} + ' ' + log::fixed(figure.value, 4) + " (" +
                   log::fixed(scores.seconds, 1) + " s)");
  return scores;
}

}  // namespace seqtrain::experiment
