#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <seqtrain/baseline/domain_classifier.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/metrics/roc_auc.hpp>
#include <seqtrain/metrics/stability_index.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/predict/text_sample.hpp>
#include <seqtrain/predict/words.hpp>
#include <seqtrain/text/unicode/unicode.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::predict {

/// The facts about the texts of a file that are compared.
struct FileFacts {
  std::string name = {};
  std::uint64_t texts = 0;
  std::size_t sampled = 0;
  double characters = 0;            ///< of a text, in the mean
  double tokens_a_word = 0;         ///< in the sample; NaN if it has no word
  std::uint64_t predicted = 0;      ///< texts for which there are the two below
  std::vector<double> shares = {};  ///< of the texts that have each label by the model
  std::vector<double> means = {};   ///< of the values, if the model predicts values
};

/// A word with the share of the texts that have it in each of two files.
struct WordDrift {
  std::string word = {};
  double reference = 0;
  double current = 0;
  double z = 0;  ///< the difference of the shares, divided by its standard error
};

/// The differences of two files.
struct Drift {
  FileFacts reference;
  FileFacts current;
  metrics::RocAuc domain = {};  ///< of a classifier that tells the files apart
  /// Why there is no such classifier, and the area is NaN.
  std::string_view domain_problem = "too few texts to tell";
  double stability_index = std::numeric_limits<double>::quiet_NaN();  ///< of predicted labels
  std::vector<WordDrift> words = {};  ///< the greatest differences first
};

/// Says in words what the area under the curve of a domain classifier means, which is not NaN.
[[nodiscard]] inline std::string_view reading_of(const metrics::RocAuc& domain) {
  if (domain.area - 2 * domain.standard_error <= 0.5) return "no difference found";
  if (domain.area < 0.6) return "a small difference";
  return domain.area < 0.8 ? "a clear difference" : "the files are easily told apart";
}

/// Says in words whether a domain classifier tells the files apart, or why there is none.
[[nodiscard]] inline std::string_view domain_reading(const Drift& drift) {
  return std::isnan(drift.domain.area) ? drift.domain_problem : reading_of(drift.domain);
}

/// Says in words what a population stability index means.
[[nodiscard]] inline std::string_view reading_of(double stability_index) {
  if (stability_index < 0.1) return "stable";
  return stability_index <= 0.25 ? "a moderate change" : "a great change";
}

namespace detail {

/// Returns the different words of a text in lower case, those that have a letter or a digit.
[[nodiscard]] inline std::unordered_set<std::string> lower_words(const SampledText& sampled) {
  std::unordered_set<std::string> words;
  const auto add = [&words](std::string_view text) {
    for (const Word& word : words_of(text)) {
      std::string lower;
      bool is_word = false;
      for (std::size_t at = word.begin; at < word.end;) {
        const char32_t code = text::decode(text, at);
        is_word = is_word || text::is_word_character(code);
        for (const char32_t each : text::lower(code)) text::append_utf8(lower, each);
      }
      if (is_word) words.insert(std::move(lower));
    }
  };
  add(sampled.text);
  if (sampled.pair) add(*sampled.pair);
  return words;
}

/// Returns the words whose shares differ most, at most `most` of them. Ten texts must have a word,
/// and its difference must be five standard errors, so that chance gives none.
[[nodiscard]] inline std::vector<WordDrift> words_that_differ(
    const std::vector<SampledText>& reference, const std::vector<SampledText>& current,
    std::size_t most) {
  std::unordered_map<std::string, std::pair<std::size_t, std::size_t>> counts;
  for (const auto& text : reference) {
    for (const auto& word : lower_words(text)) ++counts[word].first;
  }
  for (const auto& text : current) {
    for (const auto& word : lower_words(text)) ++counts[word].second;
  }
  const auto n = static_cast<double>(reference.size()), m = static_cast<double>(current.size());
  std::vector<WordDrift> words;
  for (const auto& [word, count] : counts) {
    const auto a = static_cast<double>(count.first), b = static_cast<double>(count.second);
    const double both = (a + b) / (n + m);
    const double error = std::sqrt(both * (1 - both) * (1 / n + 1 / m));
    if (a + b < 10 || error == 0) continue;
    const WordDrift drift{
        .word = word, .reference = a / n, .current = b / m, .z = (b / m - a / n) / error};
    if (std::abs(drift.z) >= 5) words.push_back(drift);
  }
  std::ranges::sort(words, [](const WordDrift& a, const WordDrift& b) {
    return std::abs(a.z) != std::abs(b.z) ? std::abs(a.z) > std::abs(b.z) : a.word < b.word;
  });
  words.resize(std::min(words.size(), most));
  return words;
}

/// Sets the area under the curve of a cross-validated domain classifier.
inline void set_domain(Drift& drift, const std::vector<SampledText>& reference,
                       const std::vector<SampledText>& current, std::size_t threads) {
  std::vector<baseline::DomainText> texts;
  std::vector<bool> is_second;
  for (const auto* sample : {&reference, &current}) {
    for (const auto& [text, pair] : *sample) {
      is_second.push_back(sample == &current);
      texts.push_back({text, pair, is_second.back()});
    }
  }
  const auto [scores, problem] = baseline::domain_scores(texts, threads);
  drift.domain_problem = problem;
  if (!problem.empty()) return;
  drift.domain = metrics::roc_auc(scores, is_second);
  if (std::isnan(drift.domain.area)) drift.domain_problem = "the scores are not finite";
}

/// Returns the stability index of predicted labels: of several labels the greatest of the labels'
/// own. It is NaN if the model predicts values, or has answered no text of a file.
[[nodiscard]] inline double label_stability(const Task& task, const std::vector<double>& reference,
                                            const std::vector<double>& current) {
  if (predicts_values(task) || reference.empty() || current.empty()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (task.problem_type == ProblemType::single_label) {
    return metrics::stability_index(reference, current);
  }
  double greatest = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const std::vector<double> before{reference[i], 1 - reference[i]},
        now{current[i], 1 - current[i]};
    greatest = std::max(greatest, metrics::stability_index(before, now));
  }
  return greatest;
}

inline void append(json::Writer& out, const FileFacts& facts, const Task& task) {
  out.begin_object().member("file", facts.name).member("texts", facts.texts);
  out.member("sampled", facts.sampled).member("characters", facts.characters);
  if (!std::isnan(facts.tokens_a_word)) out.member("tokens_a_word", facts.tokens_a_word);
  out.member("predicted", facts.predicted);
  if (has_several_values(task) && !facts.means.empty()) {
    out.key("mean_values").begin_object();
    for (std::size_t i = 0; i < facts.means.size(); ++i) {
      out.member(label_name(task.labels, i), facts.means[i]);
    }
    out.end_object();
  } else if (!facts.means.empty()) {
    out.member("mean_value", facts.means[0]);
  } else if (!facts.shares.empty()) {
    out.key("labels").begin_object();
    for (std::size_t i = 0; i < facts.shares.size(); ++i) {
      out.member(label_name(task.labels, i), facts.shares[i]);
    }
    out.end_object();
  }
  out.end_object();
}

/// Returns the number of ids of a text, special tokens included. It is 0 if the tokenizer has none
/// for it.
template <Predictor P>
[[nodiscard]] std::size_t count_ids(const P& model, std::string_view text) {
  try {
    return model.encode(text, {}, std::numeric_limits<std::size_t>::max()).input_ids.size();
  } catch (const InputError&) {
    return 0;
  }
}

}  // namespace detail

/// Returns the facts about a sample. `model` encodes texts, to count their tokens.
template <Predictor P>
[[nodiscard]] FileFacts facts_of(const TextSample& sample, const PredictedLabels& labels,
                                 const P& model, std::string name) {
  const std::size_t special = detail::count_ids(model, "");
  std::size_t tokens = 0, words = 0;
  for (const auto& [text, pair] : sample.texts()) {
    words += words_of(text).size();
    const std::size_t ids = detail::count_ids(model, text);
    tokens += ids - std::min(ids, special);
  }
  return {.name = std::move(name),
          .texts = sample.seen(),
          .sampled = sample.texts().size(),
          .characters = sample.characters(),
          .tokens_a_word = words == 0 ? std::numeric_limits<double>::quiet_NaN()
                                      : static_cast<double>(tokens) / static_cast<double>(words),
          .predicted = labels.texts(),
          .shares = labels.shares(),
          .means = labels.means()};
}

/// The fewest texts of a sample that say something about its file.
inline constexpr std::size_t fewest_texts_to_compare = 50;

/// Compares two files by their samples. If one has fewer than 50 texts, there are only the facts
/// about each.
[[nodiscard]] inline Drift compare(const TextSample& reference, FileFacts of_reference,
                                   const TextSample& current, FileFacts of_current,
                                   const Task& task, std::size_t threads) {
  constexpr std::size_t most_words = 20;
  Drift drift{.reference = std::move(of_reference), .current = std::move(of_current)};
  if (std::min(reference.texts().size(), current.texts().size()) < fewest_texts_to_compare) {
    return drift;
  }
  detail::set_domain(drift, reference.texts(), current.texts(), threads);
  drift.words = detail::words_that_differ(reference.texts(), current.texts(), most_words);
  drift.stability_index =
      detail::label_stability(task, drift.reference.shares, drift.current.shares);
  return drift;
}

/// Returns the differences as a JSON object.
[[nodiscard]] inline std::string to_json(const Drift& drift, const Task& task) {
  json::Writer out;
  out.begin_object().key("reference");
  detail::append(out, drift.reference, task);
  out.key("current");
  detail::append(out, drift.current, task);
  if (!std::isnan(drift.domain.area)) {
    out.key("domain_classifier").begin_object().member("roc_auc", drift.domain.area);
    out.member("standard_error", drift.domain.standard_error);
    out.member("reading", reading_of(drift.domain)).end_object();
  }
  if (!std::isnan(drift.stability_index)) {
    out.key("predicted_labels").begin_object().member("stability_index", drift.stability_index);
    out.member("reading", reading_of(drift.stability_index)).end_object();
  }
  out.key("words").begin_array();
  for (const WordDrift& word : drift.words) {
    out.begin_object().member("word", std::string_view{word.word});
    out.member("reference", word.reference).member("current", word.current);
    out.member("z", word.z).end_object();
  }
  return out.end_array().end_object().text();
}

}  // namespace seqtrain::predict
