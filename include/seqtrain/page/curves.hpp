#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/metrics/regression.hpp>
#include <seqtrain/page/facts.hpp>
#include <seqtrain/page/html/chart.hpp>
#include <seqtrain/page/html/table.hpp>
#include <seqtrain/predict/prediction.hpp>

namespace seqtrain::page {

namespace detail {

/// Returns the dev evaluation that the selection calls the best, or null if there is none.
inline const LoggedEvaluation* best_epoch(const RunLog& log, const train::Selection& selection,
                                          ProblemType type) {
  const std::string name = selection.metric_of(type);
  const double sign = selection.is_greater_better(name) ? 1 : -1;
  const LoggedEvaluation* best = nullptr;
  for (const auto& each : log.evaluations) {
    if (each.split != "dev" || std::isnan(each.figure(name))) continue;
    if (best == nullptr || sign * each.figure(name) > sign * best->figure(name)) best = &each;
  }
  return best;
}

inline std::vector<html::Mark> marks_of(const RunLog& log) {
  constexpr std::size_t most = 40;
  std::vector<html::Mark> marks;
  for (const auto& [step, text] : log.marks) {
    if (marks.size() < most) marks.push_back({static_cast<double>(step), text});
  }
  return marks;
}

/// Returns a table with every figure of dev by epoch.
inline report::Rows epochs_rows(const RunLog& log, const LoggedEvaluation* best) {
  report::Rows rows{{"epoch", "step"}};
  for (const auto& each : log.evaluations) {
    if (each.split != "dev") continue;
    if (rows.size() == 1) {
      for (const auto& figure : each.figures) rows[0].push_back(figure.name);
    }
    rows.push_back(
        {std::to_string(each.epoch) + (&each == best ? " (best)" : ""), html::count(each.step)});
    for (std::size_t i = 2; i < rows[0].size(); ++i) {
      rows.back().push_back(html::number(each.figure(rows[0][i])));
    }
  }
  return rows;
}

inline std::string step_chart(const RunLog& log, const std::string& curve, std::string id,
                              std::string title, std::string y) {
  return html::to_html({.id = std::move(id),
                        .title = std::move(title),
                        .x = "optimizer step",
                        .y = std::move(y),
                        .lines = {{.name = curve, .points = log.curve(curve)}},
                        .marks = marks_of(log)});
}

}  // namespace detail

/// Returns the section of a page about the course of training.
[[nodiscard]] inline std::string curves_section(const PageContent& page) {
  const RunLog& log = page.log;
  const auto type = page.facts->task.problem_type;
  const bool has_targets = predict::has_several_values(page.facts->task);
  const auto targets = has_targets ? page.facts->task.labels : std::vector<std::string>{};
  const auto* const best = detail::best_epoch(log, page.facts->selection, type);
  std::string out = "<section id=\"training\"><h2>Training</h2>\n<div class=\"grid\">";
  auto marks = detail::marks_of(log);
  out += html::to_html({.id = "loss",
                        .title = "Loss of training and dev",
                        .x = "optimizer step",
                        .y = "loss",
                        .lines = {{.name = "training", .points = log.curve("loss")},
                                  {.name = "dev", .points = log.dev_curve("loss"), .dots = true}},
                        .marks = marks});
  html::Chart figures{.id = "figures",
                      .title = "Figures of dev after each epoch",
                      .x = "epoch",
                      .y = "value",
                      .whole_x = true};
  for (const auto& each : log.evaluations) {
    if (each.split != "dev") continue;
    for (const auto& [name, value] : each.figures) {
      if (name == "loss" || name == "mean_squared_error") continue;
      if (metrics::is_target_figure(name, targets) && !name.ends_with("_pearson")) continue;
      auto line = std::ranges::find(figures.lines, name, &html::Line::name);
      if (line == figures.lines.end()) {
        line = figures.lines.insert(line, {.name = name, .dots = true});
      }
      line->points.push_back({static_cast<double>(each.epoch), value});
    }
  }
  if (best != nullptr) figures.marks.push_back({static_cast<double>(best->epoch), "best"});
  const bool has_figures = type != ProblemType::loss_alone || !figures.lines.empty();
  out += (has_figures ? html::to_html(figures) : "") + "</div>";
  const report::Rows epochs = detail::epochs_rows(log, best);
  if (epochs.size() > 1) out += html::table(epochs, "Figures of dev by epoch");
  out += "<div class=\"grid\">";
  out += detail::step_chart(log, "learning_rate", "rate", "Learning rate", "learning rate");
  out += detail::step_chart(log, "gradient_norm", "norm", "Gradient norm", "2-norm");
  out += detail::step_chart(log, "tokens_per_second", "speed", "Tokens per second", "tokens/s");
  html::Chart memory{
      .id = "memory", .title = "Memory in use", .x = "optimizer step", .y = "MiB", .marks = marks};
  html::Chart use{.id = "use",
                  .title = "Use of processors and GPUs",
                  .x = "optimizer step",
                  .y = "%",
                  .marks = marks};
  for (const auto& [name, points] : log.curves) {
    if (!name.starts_with("machine/")) continue;
    const std::string shown = name.substr(8);
    if (shown.ends_with("_mib")) memory.lines.push_back({.name = shown, .points = points});
    if (shown.ends_with("_percent")) use.lines.push_back({.name = shown, .points = points});
  }
  return out + html::to_html(memory) + html::to_html(use) + "</div></section>\n";
}

}  // namespace seqtrain::page
