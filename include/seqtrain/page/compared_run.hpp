#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/metrics/bootstrap.hpp>
#include <seqtrain/page/run_log.hpp>
#include <seqtrain/run/predictions.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::page {

/// The contents of a finished run's files. `predictions` and `log` may be empty.
struct RunFiles {
  std::string name = {};
  std::string metrics = {};
  std::string predictions = {};
  std::string log = {};
};

/// A finished run that is compared with others.
struct ComparedRun {
  std::string name = {};
  train::Pairs flags = {};
  std::vector<metrics::Figure> figures = {};  ///< figures of the dev set
  std::vector<run::ReadPrediction> predictions = {};
  std::optional<metrics::Interval> accuracy = {};  ///< 95 % interval, if there are predictions
  RunLog log = {};
};

namespace detail {

/// Tells whether the gold answers are labels, not numbers.
inline bool has_decisions(std::span<const run::ReadPrediction> predictions) {
  return !predictions.empty() &&
         (predictions[0].gold.starts_with('"') || predictions[0].gold.starts_with('['));
}

inline void read_figures(const json::Value& dev, std::vector<metrics::Figure>& figures) {
  for (const auto& [name, value] : dev.members()) {
    if (value.is_number()) figures.push_back({std::string{name}, value.number()});
  }
  if (const auto macro = dev.find("macro_average")) {
    figures.push_back({"macro_f1", macro->at("f1").number()});
  }
  const auto own = dev.find("metrics");
  if (!own) return;
  for (const auto& [name, value] : own->members()) {
    const bool known = std::ranges::count(figures, name, &metrics::Figure::name) > 0;
    if (!known && value.is_number()) figures.push_back({std::string{name}, value.number()});
  }
}

inline metrics::Interval accuracy_interval(std::span<const run::ReadPrediction> predictions) {
  metrics::Decisions decisions{2};
  const metrics::Decisions::Label yes = 1;
  for (const auto& each : predictions) {
    const metrics::Decisions::Label right = each.right() ? 1 : 0;
    decisions.add({&yes, 1}, {&right, 1});
  }
  return metrics::bootstrap(decisions, metrics::BootstrapOptions::for_examples(decisions.size()))
      .accuracy;
}

}  // namespace detail

/// Reads a run. Throws `InputError` with the file's name if its metrics or predictions cannot be
/// read.
[[nodiscard]] inline ComparedRun read_run(const RunFiles& files) {
  ComparedRun run{.name = files.name};
  const std::string where = files.name + "/metrics.json";
  const auto document = json::Document::parse(files.metrics, where);
  if (const auto flags = document.root().find("flags")) {
    for (const auto& [name, value] : flags->members()) {
      run.flags.emplace_back(name, value.is_string() ? value.string() : std::string_view{});
    }
  }
  if (const auto dev = document.root().find("dev")) detail::read_figures(*dev, run.figures);
  run.predictions =
      run::read_predictions(files.predictions, "dev", files.name + "/predictions.jsonl");
  std::ranges::sort(run.predictions, {}, &run::ReadPrediction::row);
  if (detail::has_decisions(run.predictions)) {
    run.accuracy = detail::accuracy_interval(run.predictions);
  }
  run.log = read_run_log(files.log);
  return run;
}

}  // namespace seqtrain::page
