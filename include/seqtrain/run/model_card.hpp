#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/shown_text.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/run/results.hpp>
#include <seqtrain/run/trials.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::run {

/// The data set of a run, a name on the hub.
struct CardDataset {
  std::string id;
  std::string config = {};
  std::string revision = {};  ///< a commit
  std::string dev_split = {};
  std::string test_split = {};
};

/// Facts for a model card that a run's results do not contain. Empty members are left out.
struct CardFacts {
  std::string name = {};        ///< name of the run
  std::string base_model = {};  ///< the pre-trained model, a name on the hub
  std::string license = {};
  std::optional<CardDataset> dataset = {};
  std::string library = {};          ///< the library that reads it; by default its layout tells
  bool is_sentence_encoder = false;  ///< the model has sentence-transformers' layout
};

/// Returns the license that the card in a model's folder states, or an empty string.
[[nodiscard]] inline std::string license_of(const std::filesystem::path& model) {
  const auto file = model / "README.md";
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none)) return {};
  std::ifstream card{file};
  std::string line;
  if (!std::getline(card, line) || line != "---") return {};
  constexpr std::string_view key = "license: ";
  while (std::getline(card, line) && line != "---") {
    if (!line.starts_with(key)) continue;
    auto name = line.substr(key.size());
    std::erase(name, '"');
    const auto allowed = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    };
    return std::ranges::all_of(name, allowed) ? name : "";
  }
  return {};
}

namespace detail {

/// Returns a text in quotes, escaped for JSON and YAML.
inline std::string in_quotes(std::string_view text) {
  return json::Writer{}.value(text).text();
}

/// Returns a text as one cell of a Markdown table, escaped. A line break is shown as `\n`.
inline std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : shown(text)) {
    if (std::string_view{"|\\`*_<>[]#"}.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

/// Returns a number with at most 6 digits after the point, and without an exponent, which YAML 1.1
/// takes for a text.
inline std::string rounded(double value) {
  std::array<char, 400> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), value, std::chars_format::fixed, 6);
  std::string text{digits.begin(), end.ptr};
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

/// The metric of a card whose average the hub's name for it does not tell.
constexpr std::string_view macro_f1 = "f1";

/// Returns the figures of a split that are numbers, by the hub's names for them.
inline std::vector<metrics::Figure> card_figures(const metrics::ClassificationReport& report) {
  std::vector<metrics::Figure> figures;
  if (has_labels(report.problem_type)) {
    figures.push_back({"accuracy", report.accuracy});
    figures.push_back({std::string{macro_f1}, report.macro_average().f1});
  }
  figures.insert(figures.end(), report.figures.begin(), report.figures.end());
  figures.push_back({"loss", report.loss});
  std::erase_if(figures, [](const metrics::Figure& one) { return !std::isfinite(one.value); });
  return figures;
}

/// Tells whether a run's test set is its dev set again, by the values of its flags.
inline bool test_is_dev(const train::Pairs& flags) {
  const std::string kind = train::value_in(flags, "dataset").empty() ? "-file" : "-split";
  const auto test = train::value_in(flags, "test" + kind);
  const auto held_out = train::value_in(flags, "dev-fraction");
  if (test.empty() || (!held_out.empty() && held_out != "0")) return false;
  return test == train::value_in(flags, "dev" + kind);
}

/// Returns the hub's name of the model's task.
inline std::string_view task_of(const Results& results) {
  const bool predicts = !results.dev || results.dev->problem_type != ProblemType::loss_alone;
  return predicts ? "text-classification" : "feature-extraction";
}

/// Returns the description of a split in `model-index`: of the data set, or of the file.
inline std::string described_split(const Results& results, const CardFacts& facts,
                                   std::string_view split) {
  const auto line = [](std::string_view key, std::string_view value) {
    return value.empty() ? "" : "      " + std::string{key} + ": " + in_quotes(value) + "\n";
  };
  if (const auto& set = facts.dataset) {
    return line("name", set->id) + line("type", set->id) + line("config", set->config) +
           line("split", split == "dev" ? set->dev_split : set->test_split) +
           line("revision", set->revision);
  }
  const auto file = train::value_in(results.flags, std::string{split} + "-file");
  const auto shown = std::filesystem::path{file}.filename().string();
  const auto name = shown.empty() ? split : shown;
  return line("name", name) + line("type", name) + "      split: " + std::string{split} + "\n";
}

/// Returns the entry of `model-index` with the figures on one split.
inline std::string index_of(const Results& results, const CardFacts& facts, std::string_view split,
                            const std::vector<metrics::Figure>& figures) {
  std::string text = "  - task:\n      type: " + std::string{task_of(results)} +
                     "\n    dataset:\n" + described_split(results, facts, split) + "    metrics:\n";
  for (const auto& [metric, value] : figures) {
    text += "    - type: " + in_quotes(metric) + "\n";
    if (metric == macro_f1) text += "      name: \"Macro F1\"\n";
    text += "      value: " + rounded(value) + "\n";
  }
  return text;
}

inline std::string front_matter(const Results& results, const CardFacts& facts) {
  std::string text = "---\n";
  if (!facts.license.empty()) text += "license: " + facts.license + "\n";
  if (!facts.base_model.empty()) text += "base_model: " + in_quotes(facts.base_model) + "\n";
  if (facts.dataset) text += "datasets:\n- " + in_quotes(facts.dataset->id) + "\n";
  const auto rank = train::value_in(results.flags, "lora-rank");
  const bool merged = train::value_in(results.flags, "merge-adapter") == "true";
  std::string library = facts.is_sentence_encoder ? "sentence-" : "";
  library += rank.empty() || rank == "0" || merged ? "transformers" : "peft";
  text += "library_name: " + (facts.library.empty() ? library : facts.library);
  text += "\npipeline_tag: " + std::string{task_of(results)} + "\n";
  std::string names, index;
  const auto add = [&](std::string_view split, const auto& report) {
    const auto figures = report ? card_figures(*report) : std::vector<metrics::Figure>{};
    if (figures.empty()) return;
    for (const auto& [metric, value] : figures) {
      if (index.empty() && metric != "loss") names += "- " + in_quotes(metric) + "\n";
    }
    index += index_of(results, facts, split, figures);
  };
  add("dev", results.dev);
  if (!test_is_dev(results.flags)) add("test", results.test);
  if (!names.empty()) text += "metrics:\n" + names;
  if (index.empty()) return text + "---\n";
  return text + "model-index:\n- name: " + in_quotes(facts.name) + "\n  results:\n" + index +
         "---\n";
}

inline std::string table_of(std::string_view title, const train::Pairs& pairs) {
  if (pairs.empty()) return {};
  auto text = "\n## " + std::string{title} + "\n\n| | |\n|---|---|\n";
  for (const auto& [name, value] : pairs) {
    if (!value.empty()) text += "| " + cell(name) + " | " + cell(value) + " |\n";
  }
  return text;
}

inline std::string results_table(std::string_view split,
                                 const metrics::ClassificationReport& report) {
  train::Pairs rows{{"examples", std::to_string(report.examples)}};
  for (const auto& [name, value] : card_figures(report)) {
    rows.emplace_back(name == macro_f1 ? "f1 (macro average)" : name, rounded(value));
  }
  return table_of("Results on the " + std::string{split} + " file", rows);
}

}  // namespace detail

/// Returns the model card of a run, the README.md of its model's folder: a header for the hub, then
/// labels, results, hyperparameters and versions for people. A test set that is the dev set again
/// is left out.
[[nodiscard]] inline std::string model_card(const Results& results, const CardFacts& facts) {
  auto text = detail::front_matter(results, facts) + "\n# " + detail::cell(facts.name) + "\n\n";
  const auto base = train::value_in(results.flags, "model");
  const auto set = train::value_in(results.flags, "dataset");
  const auto data = set.empty() ? train::value_in(results.flags, "train-file") : set;
  text += detail::task_of(results) == "feature-extraction" ? "An encoder of texts"
                                                           : "A classifier of texts";
  if (!base.empty()) text += ", fine-tuned from " + detail::cell(base);
  if (!data.empty()) text += " on " + detail::cell(data);
  text += " with seqtrain.\n";
  if (!results.labels.empty()) text += "\n## Labels\n\n";
  for (std::size_t i = 0; i < results.labels.size(); ++i) {
    text += std::to_string(i) + ". " + detail::cell(results.labels[i]) + "\n";
  }
  if (results.dev) text += detail::results_table("dev", *results.dev);
  if (results.dev && results.tuned_trials > 0) {
    std::string sentence = best_of_trials(results.tuned_trials);
    sentence.front() = 'T';
    text += "\n" + sentence + ".\n";
  }
  if (results.test && !detail::test_is_dev(results.flags)) {
    text += detail::results_table("test", *results.test);
  }
  text += detail::table_of("Hyperparameters", results.flags);
  return text + detail::table_of("Versions", results.versions);
}

}  // namespace seqtrain::run
