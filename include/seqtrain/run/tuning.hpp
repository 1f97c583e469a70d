#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/run/cross_validation.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::run {

/// Returns the figure of the dev examples that has this name in a run's `metrics.json`, NaN if it
/// is null there, or nothing if there is none.
[[nodiscard]] inline std::optional<double> dev_figure(const json::Value& metrics,
                                                      std::string_view name) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  CrossValidation one;
  add_fold(one, metrics);
  const auto found = std::ranges::find(one.figures, name, &FoldFigure::name);
  if (found != one.figures.end()) return found->each.front();
  const auto others = metrics.at("dev").find("metrics");
  if (!others) return {};
  if (others->has_null(name)) return none;
  const auto other = others->find(name);
  return other ? std::optional{other->number()} : std::nullopt;
}

/// The result of a run of a trial.
struct TrialResult {
  std::int64_t rung = 1;
  double share = 1;
  std::string folder = {};  ///< of the run, in the directory of the tuning
  double figure = std::numeric_limits<double>::quiet_NaN();  ///< the metric, on dev
  double loss = std::numeric_limits<double>::quiet_NaN();    ///< on dev
  std::string problem = {};  ///< why it has no figure, if it has none
};

/// A trial in `tune.json`.
struct TrialRecord {
  train::Pairs values = {};  ///< of the flags that are searched, as the last of its runs had them
  std::vector<TrialResult> runs = {};
};

/// The trials of a tuning and its winner, as `tune.json` has them.
struct Tuning {
  std::string metric = {};  ///< name of the figure that decides
  std::vector<TrialRecord> trials = {};
  std::size_t winner = 0;      ///< number of the best trial; 0: not known yet
  train::Pairs settings = {};  ///< a tuning resumes only with the same
};

/// Returns the number of trials of a tuning, or 0 if there is none.
[[nodiscard]] inline std::size_t count_trials(const std::shared_ptr<const Tuning>& tuning) {
  return tuning ? tuning->trials.size() : 0;
}

/// Returns the text of `tune.json`. NaN is written as null.
[[nodiscard]] inline std::string tuning_json(const Tuning& tuning) {
  json::Writer out{2};
  out.begin_object().member("metric", tuning.metric);
  if (tuning.winner > 0) {
    out.key("winner").begin_object();
    out.member("trial", static_cast<std::int64_t>(tuning.winner));
    train::append(out, "flags", tuning.trials[tuning.winner - 1].values);
    out.end_object();
  }
  out.key("trials").begin_array();
  for (std::size_t i = 0; i < tuning.trials.size(); ++i) {
    out.begin_object().member("trial", static_cast<std::int64_t>(i + 1));
    train::append(out, "flags", tuning.trials[i].values);
    out.key("runs").begin_array();
    for (const TrialResult& run : tuning.trials[i].runs) {
      out.begin_object().member("rung", run.rung).member("share", run.share);
      out.member("folder", run.folder).member(tuning.metric, run.figure);
      if (tuning.metric != "loss") out.member("loss", run.loss);
      if (!run.problem.empty()) out.member("problem", run.problem);
      out.end_object();
    }
    out.end_array().end_object();
  }
  out.end_array();
  train::append(out, "settings", tuning.settings);
  return out.end_object().text() + "\n";
}

}  // namespace seqtrain::run
