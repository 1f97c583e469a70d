#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <seqtrain/cli/predict_flags.hpp>
#include <seqtrain/cli/predict_records.hpp>
#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/shown_text.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/log/format.hpp>
#include <seqtrain/predict/drift.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/predict/text_sample.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::cli {

namespace detail {

/// Returns an arrow between two numbers.
[[nodiscard]] inline std::string change(double before, double now, int decimals,
                                        const std::string& unit = {}) {
  return log::fixed(before, decimals) + unit + " → " + log::fixed(now, decimals) + unit;
}

/// Returns the number of texts and, if there are more, that of the sample.
[[nodiscard]] inline std::string count_text(const predict::FileFacts& facts) {
  const std::string all = std::to_string(facts.texts);
  return facts.sampled == facts.texts ? all + " texts"
                                      : std::to_string(facts.sampled) + " of " + all + " texts";
}

/// Returns the labels whose shares differ most, at most ten, as lines.
[[nodiscard]] inline std::string label_lines(const predict::Drift& drift,
                                             const predict::Task& task) {
  constexpr std::size_t most = 10;
  const auto& before = drift.reference.shares;
  const auto& now = drift.current.shares;
  std::vector<std::size_t> order(std::min(before.size(), now.size()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return std::abs(now[a] - before[a]) > std::abs(now[b] - before[b]);
  });
  std::string text;
  for (const std::size_t i : std::span{order}.first(std::min(order.size(), most))) {
    text += "    " + shown(predict::label_name(task.labels, i)) + "  " +
            change(100 * before[i], 100 * now[i], 1, " %") + '\n';
  }
  const std::size_t rest = order.size() - std::min(order.size(), most);
  return rest == 0 ? text : text + "    and " + std::to_string(rest) + " labels that differ less\n";
}

/// Returns the means of the predicted values as lines: one, or one for each of several values.
[[nodiscard]] inline std::string value_lines(const predict::Drift& drift,
                                             const predict::Task& task) {
  const auto& before = drift.reference.means;
  const auto& now = drift.current.means;
  if (before.empty() || before.size() != now.size()) return {};
  if (!predict::has_several_values(task)) {
    return "  mean of the predicted values: " + change(before[0], now[0], 3) + '\n';
  }
  std::string text = "  means of the predicted values:\n";
  for (std::size_t i = 0; i < before.size(); ++i) {
    text += "    " + shown(predict::label_name(task.labels, i)) + "  " +
            change(before[i], now[i], 3) + '\n';
  }
  return text;
}

}  // namespace detail

/// Returns the differences of two files as lines for people.
[[nodiscard]] inline std::string drift_text(const predict::Drift& drift,
                                            const predict::Task& task) {
  const predict::FileFacts& before = drift.reference;
  const predict::FileFacts& now = drift.current;
  std::string text = "From " + before.name + " (" + detail::count_text(before) + ") to " +
                     now.name + " (" + detail::count_text(now) + "):\n";
  const std::string reading{predict::domain_reading(drift)};
  text += "  domain classifier: ";
  text += std::isnan(drift.domain.area)
              ? reading + '\n'
              : "ROC AUC " + log::fixed(drift.domain.area, 3) + " ± " +
                    log::fixed(2 * drift.domain.standard_error, 3) + ", " + reading + '\n';
  text += "  characters of a text: " + detail::change(before.characters, now.characters, 1) + '\n';
  if (!std::isnan(before.tokens_a_word + now.tokens_a_word)) {
    text += "  tokens a word: " + detail::change(before.tokens_a_word, now.tokens_a_word, 2) + '\n';
  }
  text += detail::value_lines(drift, task);
  if (!std::isnan(drift.stability_index)) {
    text += "  predicted labels: population stability index " +
            log::fixed(drift.stability_index, 3) + ", " +
            std::string{predict::reading_of(drift.stability_index)} + '\n' +
            detail::label_lines(drift, task);
  }
  if (drift.words.empty()) {
    return std::isnan(drift.domain.area) ? text : text + "  no word differs beyond chance\n";
  }
  text += "  words, with the shares of the texts that have them:\n";
  for (const auto& word : drift.words) {
    text += "    " + shown(word.word) + "  " +
            detail::change(100 * word.reference, 100 * word.current, 1, " %") + '\n';
  }
  return text;
}

/// A sample of the texts of a file.
struct EncodedSample {
  predict::TextSample texts = {};
  /// The ids of each text for the model, unless it embeds texts.
  std::vector<predict::Encoded> ids = {};
};

/// Reads all records, and samples their texts. Wrong records are left out, and so are sampled ones
/// that `predictor` cannot encode.
template <predict::Predictor P>
[[nodiscard]] EncodedSample sample_of(AnyRecords records, const P& predictor,
                                      std::size_t max_length) {
  EncodedSample sample;
  const auto visit = [&](const data::Example& example) {
    const std::string_view first = example.text;
    const auto& pair = example.text_pair;
    if (!text::is_valid_utf8(first) || !text::is_valid_utf8(pair.value_or(""))) return;
    const auto place = sample.texts.next_place();
    if (place && !predictor.task().embeds()) {
      predict::Encoded ids;
      try {
        ids = predictor.encode(first, pair, max_length);
      } catch (const InputError&) {
        return;
      }
      sample.ids.resize(std::max(sample.ids.size(), *place + 1));
      sample.ids[*place] = std::move(ids);
    }
    sample.texts.add(first, pair);
  };
  const auto ignore = [](const auto&...) {};
  std::visit(
      [&](auto& each) {
        while (each.read(visit, ignore)) {
        }
      },
      records);
  return sample;
}

/// The files that are compared, and how.
struct DriftTask {
  AnyRecords reference;
  std::string reference_name;
  std::size_t max_length = 0;
  std::size_t batch_size = 32;
  std::size_t threads = 1;
};

/// Returns the differences between a reference and the records that have passed through `watched`.
/// `model` encodes texts, to count their tokens.
template <predict::Predictor P, predict::Predictor M>
[[nodiscard]] predict::Drift drift_from(DriftTask task, const P& predictor, const M& model,
                                        const predict::Watched<P>& watched, std::string name) {
  auto sample = sample_of(std::move(task.reference), predictor, task.max_length);
  if (sample.texts.seen() == 0 || watched.sample().seen() == 0) {
    throw InputError{"has no text to compare",
                     {.object = sample.texts.seen() == 0 ? task.reference_name : name}};
  }
  predict::PredictedLabels labels;
  labels.add(predict::logits_by_length(predictor, std::move(sample.ids), task.batch_size),
             predictor.task());
  return predict::compare(
      sample.texts, predict::facts_of(sample.texts, labels, model, task.reference_name),
      watched.sample(),
      predict::facts_of(watched.sample(), watched.labels(), model, std::move(name)),
      predictor.task(), task.threads);
}

/// Says on stderr how two files differ, and writes it as JSON if `file` is given.
inline void tell_drift(const predict::Drift& drift, const predict::Task& task,
                       const std::string& file) {
  std::cerr << drift_text(drift, task);
  if (!file.empty()) write_file_atomically(file, predict::to_json(drift, task) + "\n");
}

}  // namespace seqtrain::cli
