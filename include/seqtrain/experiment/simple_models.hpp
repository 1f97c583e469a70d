#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/baseline/judge.hpp>
#include <seqtrain/baseline/model.hpp>
#include <seqtrain/baseline/scores.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/data/visit_examples.hpp>
#include <seqtrain/log/format.hpp>
#include <seqtrain/train/stopped.hpp>

namespace seqtrain::experiment {

/// A set of examples, and the file and the rows that its texts are in.
struct TextsOfSet {
  const data::EncodedSet& set;
  const std::string& file;
  data::ReadOptions read;
  std::vector<std::size_t> rows = {};  ///< empty: all rows of the file, or its first ones
};

/// Tells whether a row has a label, or a target that is a number.
[[nodiscard]] inline bool is_labelled(const data::EncodedSet& set, std::size_t row) {
  const auto targets = set.targets(row);
  return targets.empty() ? set.label(row) >= 0 : !std::isnan(targets.front());
}

/// Calls use(row, example) for the examples that have a label.
template <class Use>
void visit_labelled(const TextsOfSet& texts, const data::Labels& labels, const Use& use) {
  const auto each = [&](const data::ExamplePlace& place, const data::Example& example) {
    if (place.row >= texts.set.size()) return;  // after --fraction-of-train-data
    if (is_labelled(texts.set, place.row)) use(place.row, example);
  };
  data::visit_examples(texts.file, texts.read, labels, each, texts.rows);
}

/// Simple models, and their figures on dev.
struct SimpleModels {
  baseline::Model model;
  baseline::Scores scores;
};

namespace detail {

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

/// Throws `train::Stopped` if a stop is requested.
inline void end_if_stopped(const std::stop_token& stop) {
  if (stop.stop_requested()) throw train::Stopped{"stopped while the baseline was trained"};
}

}  // namespace detail

/// Returns the figures of a simple model on examples. `observer` gets its logits.
[[nodiscard]] inline baseline::Scores judge_simple_models(const baseline::Model& model,
                                                          const TextsOfSet& texts,
                                                          const data::Labels& labels,
                                                          std::size_t threads,
                                                          baseline::Judge::Observer observer = {}) {
  baseline::Judge judge{model, threads, std::move(observer), labels.names()};
  visit_labelled(texts, labels, [&](std::size_t row, const data::Example& example) {
    judge.add(example.text, example.text_pair, texts.set.label(row), texts.set.targets(row));
  });
  return judge.scores();
}

/// Trains simple models on examples and computes their figures on dev examples. If there are more
/// texts than fit in memory, they learn from every second or n-th example. Returns nothing if no
/// training example has a label. Throws `InputError` if no text has a word, and `train::Stopped` if
/// `options.stop` requests it.
[[nodiscard]] inline std::optional<SimpleModels> train_simple_models(
    const TextsOfSet& train, const TextsOfSet& dev, const data::Labels& labels,
    baseline::LearnerOptions options, baseline::Judge::Observer observer = {}) {
  const auto start = std::chrono::steady_clock::now();
  options.problem_type = labels.problem_type();
  options.labels = labels.size();
  options.name = train.file;
  const std::size_t every = detail::examples_of_one(train, labels, options);
  baseline::Learner learner{options};
  visit_labelled(train, labels, [&](std::size_t row, const data::Example& example) {
    detail::end_if_stopped(options.stop);
    if (row % every != 0) return;
    learner.add(example.text, example.text_pair, train.set.label(row), train.set.targets(row));
  });
  if (learner.examples() == 0) return {};
  baseline::Model model = learner.learn();
  detail::end_if_stopped(options.stop);
  auto scores = judge_simple_models(model, dev, labels, options.threads, std::move(observer));
  scores.examples = learner.examples();
  scores.weighted = !options.class_weights.empty();
  scores.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return SimpleModels{.model = std::move(model), .scores = std::move(scores)};
}

/// Returns a line about the linear model for a log.
[[nodiscard]] inline std::string describe(const baseline::Scores& scores) {
  const auto figure = baseline::headline(scores.linear, scores.weighted);
  return "Baseline: a linear model on TF-IDF, " + std::to_string(scores.terms) + " terms of " +
         std::to_string(scores.examples) + " examples: dev " + std::string{figure.name} + ' ' +
         log::fixed(figure.value, 4) + " (" + log::fixed(scores.seconds, 1) + " s)";
}

}  // namespace seqtrain::experiment
