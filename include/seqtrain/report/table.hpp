#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/shown_text.hpp>
#include <seqtrain/log/format.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/metric.hpp>
#include <seqtrain/metrics/multi_label.hpp>
#include <seqtrain/metrics/regression.hpp>

namespace seqtrain::report {

/// The rows of a table, each a list of cells.
using Rows = std::vector<std::vector<std::string>>;

/// Returns rows as text with aligned columns: the first column left, the others right. A line break
/// in a cell is shown as `\n`.
inline std::string align(Rows rows) {
  std::vector<std::size_t> widths;
  for (auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = shown(row[i]);
      widths[i] = std::max(widths[i], log::columns(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += i == 0 ? log::left(row[i], widths[i]) : "  " + log::right(row[i], widths[i]);
    }
    text += '\n';
  }
  return text;
}

/// Returns rows with the precision, recall, F1 and support of the labels `shown`, of all labels if
/// it is empty, then the macro average and the accuracy; for multi-label classification also the
/// micro average.
inline Rows scores_rows(const metrics::ClassificationReport& report,
                        std::span<const std::string> names,
                        std::span<const std::size_t> shown = {}) {
  Rows rows{{"", "precision", "recall", "f1", "support"}};
  const auto add = [&rows](const std::string& name, const metrics::LabelScores& scores) {
    rows.push_back({name, log::fixed(scores.precision, 4), log::fixed(scores.recall, 4),
                    log::fixed(scores.f1, 4), std::to_string(scores.support)});
  };
  for (std::size_t i = 0; i < (shown.empty() ? report.labels.size() : shown.size()); ++i) {
    const std::size_t label = shown.empty() ? i : shown[i];
    add(metrics::label_name(names, label), report.labels[label]);
  }
  const bool multi_label = report.problem_type == ProblemType::multi_label;
  if (multi_label) add("micro avg", metrics::micro_average(report.confusion));
  add("macro avg", report.macro_average());
  rows.push_back({multi_label ? "all right" : "accuracy", "", "", log::fixed(report.accuracy, 4),
                  std::to_string(report.examples)});
  return rows;
}

/// Returns the confusion counts: a row for each true label, a column for each predicted one.
inline Rows confusion_rows(const metrics::ClassificationReport& report,
                           std::span<const std::string> names) {
  Rows rows{{"true \\ predicted"}};
  for (std::size_t i = 0; i < report.labels.size(); ++i) {
    rows.front().push_back(metrics::label_name(names, i));
    rows.push_back({metrics::label_name(names, i)});
    for (const std::int64_t count : report.confusion.row(static_cast<Eigen::Index>(i))) {
      rows.back().push_back(std::to_string(count));
    }
  }
  return rows;
}

/// The largest number of labels at which a matrix of confusions can still be read.
inline constexpr std::size_t most_matrix_labels = 25;

/// Returns rows with the most frequent confusions, at most `most` of them.
inline Rows frequent_confusions_rows(const metrics::Confusion& counts,
                                     std::span<const std::string> names, std::size_t most) {
  std::vector<std::pair<Eigen::Index, Eigen::Index>> cells;
  for (Eigen::Index gold = 0; gold < counts.rows(); ++gold) {
    for (Eigen::Index said = 0; said < counts.cols(); ++said) {
      if (gold != said && counts(gold, said) > 0) cells.emplace_back(gold, said);
    }
  }
  std::ranges::stable_sort(cells, std::greater{},
                           [&](const auto& cell) { return counts(cell.first, cell.second); });
  Rows rows{{"true", "predicted", "examples"}};
  for (std::size_t i = 0; i < std::min(most, cells.size()); ++i) {
    const auto [gold, said] = cells[i];
    rows.push_back({metrics::label_name(names, static_cast<std::size_t>(gold)),
                    metrics::label_name(names, static_cast<std::size_t>(said)),
                    std::to_string(counts(gold, said))});
  }
  return rows;
}

/// Returns the labels to show if there is room for `most`: all in their order if they are not more,
/// else half of the room for those with the most examples, and the other half for those with the
/// lowest F1 of the rest that have examples.
inline std::vector<std::size_t> shown_labels(std::span<const metrics::LabelScores> labels,
                                             std::size_t most) {
  std::vector<std::size_t> order(labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() <= most) return order;
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return labels[i].support; });
  const auto rest = order.begin() + static_cast<std::ptrdiff_t>((most + 1) / 2);
  std::stable_sort(rest, order.end(), [&](std::size_t a, std::size_t b) {
    const bool no_a = labels[a].support == 0, no_b = labels[b].support == 0;
    return no_a != no_b ? no_b : labels[a].f1 < labels[b].f1;
  });
  order.resize(most);
  return order;
}

/// Returns rows with the figures of each of several targets.
inline Rows target_rows(const metrics::ClassificationReport& report,
                        std::span<const std::string> names) {
  Rows rows{{"target"}};
  for (const auto figure : metrics::target_figures) rows.front().emplace_back(figure);
  for (const auto& name : names) {
    rows.push_back({name});
    for (const auto figure : metrics::target_figures) {
      const double value = metrics::value_of(report.figures, metrics::target_figure(name, figure));
      rows.back().push_back(log::fixed(value, 4));
    }
  }
  return rows;
}

/// Returns rows with the figures by name, without those of single targets, and the number of
/// examples.
inline Rows figures_rows(const metrics::ClassificationReport& report) {
  Rows rows;
  for (const auto& [name, value] : report.figures) {
    const bool is_hidden = metrics::is_target_figure(name, report.targets);
    if (!is_hidden) rows.push_back({name, log::fixed(value, 4)});
  }
  rows.push_back({"examples", std::to_string(report.examples)});
  return rows;
}

/// Returns the tables that a run prints for the test set: the scores of the labels and, if an
/// example has one label, the confusion counts; for regression the figures, and those of each of
/// several targets. With many labels the
/// tables have the labels that `shown_labels` chooses and the most frequent confusions.
inline std::string tables(const metrics::ClassificationReport& report,
                          std::span<const std::string> names) {
  if (!has_labels(report.problem_type)) {
    const bool has_targets = report.problem_type == ProblemType::regression && names.size() > 1;
    return "\n" + align(figures_rows(report)) +
           (has_targets ? "\n" + align(target_rows(report, names)) : "");
  }
  constexpr std::size_t most_labels = 50, most_confusions = 20;
  const auto shown = shown_labels(report.labels, most_labels);
  std::string text = "\n" + align(scores_rows(report, names, shown));
  if (shown.size() < report.labels.size()) {
    text += "The table has the " + std::to_string((most_labels + 1) / 2) +
            " labels with the most examples and the " + std::to_string(most_labels / 2) +
            " with the lowest f1 of the others; metrics.json has all " +
            std::to_string(report.labels.size()) + "\n";
  }
  if (report.problem_type == ProblemType::multi_label) return text;
  if (report.labels.size() <= most_matrix_labels) {
    return text + "\n" + align(confusion_rows(report, names)) + "\n";
  }
  const auto confusions = frequent_confusions_rows(report.confusion, names, most_confusions);
  return confusions.size() == 1 ? text : text + "\n" + align(confusions) + "\n";
}

/// Returns text for a cell of a Markdown table: characters with a meaning in Markdown or HTML are
/// escaped, and a line break is shown as `\n`.
inline std::string markdown_cell(std::string_view text) {
  constexpr std::string_view markup = R"(\`*_[]|)";
  std::string cell;
  for (const char c : shown(text)) {
    if (c == '<') {
      cell += "&lt;";
    } else if (c == '&') {
      cell += "&amp;";
    } else {
      if (markup.find(c) != std::string_view::npos) cell += '\\';
      cell += c;
    }
  }
  return cell;
}

/// Returns rows of cells as a Markdown table. The first row is its head.
inline std::string markdown_table(const Rows& rows) {
  std::string table;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    table += '|';
    for (const auto& cell : rows[i]) table += ' ' + markdown_cell(cell) + " |";
    table += '\n';
    if (i > 0) continue;
    table += '|';
    for (std::size_t column = 0; column < rows[0].size(); ++column) table += "---|";
    table += '\n';
  }
  return table;
}

}  // namespace seqtrain::report
