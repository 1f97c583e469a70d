#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/shown_text.hpp>
#include <seqtrain/log/format.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/multi_label.hpp>

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

/// Returns rows with the precision, recall, F1 and support of each label, the macro average and the
/// accuracy; for multi-label classification also the micro average.
inline Rows scores_rows(const metrics::ClassificationReport& report,
                        std::span<const std::string> names) {
  Rows rows{{"", "precision", "recall", "f1", "support"}};
  const auto add = [&rows](const std::string& name, const metrics::LabelScores& scores) {
    rows.push_back({name, log::fixed(scores.precision, 4), log::fixed(scores.recall, 4),
                    log::fixed(scores.f1, 4), std::to_string(scores.support)});
  };
  for (std::size_t i = 0; i < report.labels.size(); ++i) {
    add(metrics::label_name(names, i), report.labels[i]);
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

/// Returns rows with the figures by name and the number of examples.
inline Rows figures_rows(const metrics::ClassificationReport& report) {
  Rows rows;
  for (const auto& [name, value] : report.figures) rows.push_back({name, log::fixed(value, 4)});
  rows.push_back({"examples", std::to_string(report.examples)});
  return rows;
}

/// Returns the tables that a run prints for the test set: the scores of the labels and, if an
/// example has one label, the confusion counts; for regression the figures.
inline std::string tables(const metrics::ClassificationReport& report,
                          std::span<const std::string> names) {
  if (!has_labels(report.problem_type)) return "\n" + align(figures_rows(report));
  const std::string scores = "\n" + align(scores_rows(report, names));
  if (report.problem_type == ProblemType::multi_label) return scores;
  return scores + "\n" + align(confusion_rows(report, names)) + "\n";
}

/// Returns a warning if the model answers every example of dev with one label although there are
/// several, else "".
inline std::string one_answer_warning(const metrics::ClassificationReport& dev,
                                      std::span<const std::string> names) {
  if (dev.problem_type != ProblemType::single_label || dev.confusion.rows() < 2) return {};
  const auto answers = dev.confusion.colwise().sum();
  Eigen::Index said = 0;
  const auto most = answers.maxCoeff(&said);
  if (most == 0 || most < answers.sum()) return {};
  if (dev.confusion.row(said).sum() == most) return {};
  return "the model answers all " + std::to_string(most) + " dev examples with '" +
         shown(names[static_cast<std::size_t>(said)]) +
         "', so it has learned nothing; try a lower --learning-rate (2e-5 to 5e-5 is usual), or "
         "more epochs";
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
