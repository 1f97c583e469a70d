#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/metrics/bootstrap.hpp>
#include <seqtrain/metrics/precision_recall.hpp>
#include <seqtrain/metrics/regression.hpp>
#include <seqtrain/page/facts.hpp>
#include <seqtrain/page/html/chart.hpp>
#include <seqtrain/page/html/figures.hpp>
#include <seqtrain/page/html/table.hpp>
#include <seqtrain/report/table.hpp>
#include <seqtrain/run/deviation.hpp>

namespace seqtrain::page {

namespace detail {

inline constexpr std::size_t most_label_rows = 1000;  // most labels in a table
inline constexpr std::size_t most_label_bars = 30;    // most labels in a figure
inline constexpr std::size_t most_label_curves = 8;   // most labels in a chart

inline std::string short_name(const predict::Task& task, std::size_t label) {
  return html::cut(metrics::shown_label(task.labels, label), 60);
}

inline std::string with_interval(double value, const metrics::Interval& interval) {
  return log::fixed(value, 3) + " [" + log::fixed(interval.low, 3) + ", " +
         log::fixed(interval.high, 3) + "]";
}

/// Returns the confusion counts of single-label decisions.
inline metrics::Confusion confusion_of(const metrics::Decisions& decisions) {
  const auto labels = static_cast<Eigen::Index>(decisions.labels());
  metrics::Confusion counts = metrics::Confusion::Zero(labels, labels);
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    ++counts(decisions.gold(i)[0], decisions.said(i)[0]);
  }
  return counts;
}

inline std::string labels_figure(const std::string& split, const metrics::Decisions& decisions,
                                 const predict::Task& task) {
  const auto scores = metrics::label_scores(decisions);
  const auto intervals =
      metrics::bootstrap(decisions, metrics::BootstrapOptions::for_examples(decisions.size()));
  const bool all = scores.size() <= most_label_bars;
  html::Bars bars{.id = split + "-labels",
                  .title = all ? "Precision, recall and F1 by label, with 95 % intervals"
                               : "The most frequent labels, then those with the lowest F1 of the "
                                 "others, with 95 % intervals",
                  .series = {"precision", "recall", "F1"}};
  report::Rows rows{{"label", "precision", "recall", "F1", "support"}};
  for (const std::size_t i : report::shown_labels(scores, most_label_rows)) {
    const auto& [precision, recall, f1, support, predicted] = scores[i];
    const auto& bounds = intervals.labels[i];
    rows.push_back({short_name(task, i), with_interval(precision, bounds.precision),
                    with_interval(recall, bounds.recall), with_interval(f1, bounds.f1),
                    std::to_string(support)});
  }
  for (const std::size_t i : report::shown_labels(scores, most_label_bars)) {
    const auto& [precision, recall, f1, support, predicted] = scores[i];
    const auto& bounds = intervals.labels[i];
    bars.rows.push_back({short_name(task, i),
                         {{precision, bounds.precision.low, bounds.precision.high},
                          {recall, bounds.recall.low, bounds.recall.high},
                          {f1, bounds.f1.low, bounds.f1.high}}});
  }
  std::int64_t right = 0;
  for (std::size_t i = 0; i < decisions.size(); ++i) right += decisions.right(i) ? 1 : 0;
  const double macro = metrics::macro_average(scores, decisions.problem_type()).f1;
  const double accuracy = static_cast<double>(right) / static_cast<double>(decisions.size());
  return "<p>Accuracy " + with_interval(accuracy, intervals.accuracy) + ", macro F1 " +
         with_interval(macro, intervals.macro_f1) + ", over " +
         html::count(static_cast<std::int64_t>(decisions.size())) +
         " examples. Intervals are those of 95 % of bootstrap resamples, or Wilson's where all "
         "resamples are equal.</p>" +
         html::to_html(bars, html::table(rows, "Scores by label"));
}

inline std::string recall_chart(const std::string& split, const run::Predictions& predictions,
                                const predict::Task& task,
                                std::span<const std::size_t> shown_labels) {
  const run::LabelCurves curves{predictions, task};
  html::Chart chart{.id = split + "-precision-recall",
                    .title = "Precision over recall",
                    .x = "recall",
                    .y = "precision",
                    .x_range = html::Range{0, 1},
                    .y_range = html::Range{0, 1.02}};
  report::Rows rows{{"label", "average precision"}};
  for (const std::size_t label : shown_labels) {
    const auto curve = curves(label);
    html::Line line{.name = short_name(task, label)};
    for (const auto& at : curve) line.points.push_back({at.recall, at.precision});
    chart.lines.push_back(std::move(line));
    rows.push_back({short_name(task, label), html::number(metrics::average_precision(curve))});
  }
  return html::to_html(chart) + html::table(rows, "Average precision");
}

inline html::Line reliability_line(const std::string& name,
                                   const std::vector<metrics::ReliabilityBin>& bins) {
  html::Line line{.name = name, .dots = true};
  for (const auto& bin : bins) {
    if (bin.examples > 0) line.points.push_back({bin.confidence, bin.accuracy});
  }
  return line;
}

inline std::string reliability_chart(const std::string& split, const run::Predictions& predictions,
                                     const predict::Task& task, const run::Calibrated* calibrated) {
  const auto bins = run::reliability(predictions, task);
  const bool single = task.problem_type == ProblemType::single_label;
  html::Chart chart{.id = split + "-reliability",
                    .title = "Reliability",
                    .x = single ? "score of the predicted label" : "score",
                    .y = single ? "share that is right" : "share that has the label",
                    .lines = {reliability_line("as trained", bins)},
                    .x_range = html::Range{0, 1},
                    .y_range = html::Range{0, 1},
                    .diagonal = true};
  std::string text =
      "<p>Expected calibration error: " + log::fixed(metrics::expected_calibration_error(bins), 4);
  if (calibrated != nullptr && single) {
    const auto after = run::reliability(predictions, calibrated->apply(task));
    chart.lines.push_back(reliability_line("calibrated", after));
    text += " as trained, " + log::fixed(metrics::expected_calibration_error(after), 4) +
            " with temperature " + html::number(calibrated->chosen.temperature);
  }
  report::Rows rows{{"scores", "examples", "mean score", chart.y}};
  for (const auto& bin : bins) {
    rows.push_back({log::fixed(bin.low, 1) + "–" + log::fixed(bin.high, 1),
                    html::count(bin.examples), log::fixed(bin.confidence, 3),
                    log::fixed(bin.accuracy, 3)});
  }
  return text + ".</p>" + html::to_html(chart) + html::table(rows, "Examples by score");
}

/// Returns a scatter plot of predicted over true values of a target whose axes are equal, so that
/// predictions that hardly differ are seen to.
inline std::string scatter(const run::Predictions& predictions, std::size_t target, std::string id,
                           const std::string& title) {
  html::Line line{.name = "examples", .line = false, .dots = true};
  html::Range range{std::numeric_limits<double>::infinity(),
                    -std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    if (!predictions.labelled(i)) continue;
    const double truth = predictions.targets_of(i)[target];
    const double predicted = predictions.logits_of(i)[target];
    line.points.push_back({truth, predicted});
    if (!std::isfinite(truth) || !std::isfinite(predicted)) continue;
    range.low = std::min({range.low, truth, predicted});
    range.high = std::max({range.high, truth, predicted});
  }
  const double room = range.high > range.low ? (range.high - range.low) * 0.04 : 1;
  std::ranges::sort(line.points, {}, &html::Point::x);
  return html::to_html(html::Chart{.id = std::move(id),
                                   .title = title,
                                   .x = "true value",
                                   .y = "predicted value",
                                   .lines = {std::move(line)},
                                   .x_range = html::Range{range.low - room, range.high + room},
                                   .y_range = html::Range{range.low - room, range.high + room},
                                   .diagonal = true});
}

inline constexpr const char* r_squared_note =
    "R² is 1 for exact predictions and 0 for those that are no better than the mean.";

/// Returns the deviation of predictions with a scatter plot.
inline std::string deviation_of_one(const std::string& split, const run::Predictions& predictions) {
  const auto found = run::deviation(predictions);
  return "<p>Mean absolute error " + html::number(found.mean_absolute_error) + ", R² " +
         html::number(found.r_squared) + ", over " + html::count(found.examples) + " examples. " +
         r_squared_note + "</p>" +
         scatter(predictions, 0, split + "-scatter", "Predicted over true values");
}

/// Returns a table of the figures of several targets, and a scatter plot for each of the first
/// ones.
inline std::string deviation_of_each(const std::string& split, const run::Predictions& predictions,
                                     const predict::Task& task) {
  constexpr std::size_t most_scatters = 12;
  metrics::Regression figures{task.labels};
  figures.add(predictions.logits, predictions.targets);
  const auto report = figures.report();
  report::Rows rows{
      {"target", "mean squared error", "mean absolute error", "R²", "Pearson", "Spearman"}};
  for (std::size_t k = 0; k < task.labels.size(); ++k) {
    rows.push_back({short_name(task, k)});
    for (const char* name :
         {"mean_squared_error", "mean_absolute_error", "r_squared", "pearson", "spearman"}) {
      rows.back().push_back(html::number(metrics::value_of(
          report.figures, metrics::target_figure(metrics::label_name(task.labels, k), name))));
    }
  }
  std::string out = "<p>" + html::count(report.examples) + " examples, each with " +
                    std::to_string(task.labels.size()) + " numbers. " + r_squared_note + "</p>" +
                    html::table(rows, "Figures by target") + "<div class=\"grid\">";
  for (std::size_t k = 0; k < std::min(task.labels.size(), most_scatters); ++k) {
    out += "<div>" +
           scatter(predictions, k, split + "-scatter-" + std::to_string(k),
                   "Predicted over true values of " + short_name(task, k)) +
           "</div>";
  }
  out += "</div>";
  if (task.labels.size() <= most_scatters) return out;
  return out + "<p>The diagrams are those of the first " + std::to_string(most_scatters) +
         " targets.</p>";
}

}  // namespace detail

/// Returns the section of a page about the decisions on a split. A cell of the confusion matrix is
/// a link if `link(gold, said)` returns an address.
[[nodiscard]] inline std::string decisions_section(
    const std::string& split, const run::Predictions& predictions, const predict::Task& task,
    const run::Calibrated* calibrated,
    const std::function<std::string(std::size_t, std::size_t)>& link) {
  std::string out =
      "<section id=\"" + split + "\"><h2>Decisions on " + html::escaped(split) + "</h2>\n";
  if (predictions.left_out > 0) {
    out += "<p>" + html::count(static_cast<std::int64_t>(predictions.left_out)) +
           " examples were too many to be kept and are not counted here.</p>";
  }
  if (task.problem_type == ProblemType::regression) {
    return out +
           (predict::has_several_values(task) ? detail::deviation_of_each(split, predictions, task)
                                              : detail::deviation_of_one(split, predictions)) +
           "</section>\n";
  }
  const auto decisions = run::decisions(predictions, task);
  if (decisions.size() == 0) return out + "<p>No example has a label.</p></section>\n";
  if (task.problem_type == ProblemType::single_label) {
    const auto counts = detail::confusion_of(decisions);
    if (decisions.labels() <= report::most_matrix_labels) {
      const auto report = metrics::make_report(counts);
      out += html::heat_map(split + "-confusion", "Confusion matrix", counts, task.labels,
                            report::confusion_rows(report, task.labels), link);
    } else {
      constexpr std::size_t most = 50;
      std::vector<std::string> names;
      for (std::size_t i = 0; i < decisions.labels(); ++i) {
        names.push_back(detail::short_name(task, i));
      }
      out += html::table(report::frequent_confusions_rows(counts, names, most),
                         "The most frequent confusions");
    }
  }
  out += detail::labels_figure(split, decisions, task) + "<div class=\"grid\"><div>";
  out += detail::recall_chart(
      split, predictions, task,
      report::shown_labels(metrics::label_scores(decisions), detail::most_label_curves));
  out += "</div><div>" + detail::reliability_chart(split, predictions, task, calibrated);
  return out + "</div></div></section>\n";
}

/// Returns the section of a page about the calibration on dev, or an empty string if there was
/// none.
[[nodiscard]] inline std::string calibration_section(const run::Calibrated* calibrated,
                                                     const predict::Task& task) {
  if (calibrated == nullptr) return {};
  report::Rows rows{{"figure of dev", "before", "after"}};
  for (const auto& [name, before, after] : calibrated->figures) {
    rows.push_back({name, log::fixed(before, 4), log::fixed(after, 4)});
  }
  std::string out =
      "<section id=\"calibration\"><h2>Calibration</h2>\n<p>Chosen on dev and saved "
      "in the model's config.json; logits stay as they are.</p>" +
      html::table(rows, "Before and after");
  if (calibrated->chosen.thresholds.empty()) {
    return out + "<p>Temperature: " + html::number(calibrated->chosen.temperature) +
           ".</p></section>\n";
  }
  report::Rows thresholds{{"label", "threshold"}};
  for (std::size_t i = 0; i < calibrated->chosen.thresholds.size(); ++i) {
    if (i < detail::most_label_rows) {
      thresholds.push_back(
          {detail::short_name(task, i), html::number(calibrated->chosen.thresholds[i])});
    }
  }
  return out + html::table(thresholds, "Thresholds") + "</section>\n";
}

}  // namespace seqtrain::page
