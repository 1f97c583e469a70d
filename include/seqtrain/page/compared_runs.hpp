#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/data/visit_examples.hpp>
#include <seqtrain/log/format.hpp>
#include <seqtrain/metrics/bootstrap.hpp>
#include <seqtrain/metrics/metric.hpp>
#include <seqtrain/page/html/chart.hpp>
#include <seqtrain/page/html/frame.hpp>
#include <seqtrain/page/html/table.hpp>
#include <seqtrain/page/run_log.hpp>
#include <seqtrain/report/table.hpp>
#include <seqtrain/run/predictions.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::page {

namespace compare {

namespace html = page::html;
namespace json = json;
namespace metrics = metrics;
namespace report = report;

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
  page::RunLog log = {};
  std::map<std::int64_t, std::string> texts = {};  ///< the texts of dev examples, by row
};

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
  if (const auto dev = document.root().find("dev")) read_figures(*dev, run.figures);
  run.predictions =
      run::read_predictions(files.predictions, "dev", files.name + "/predictions.jsonl");
  std::ranges::sort(run.predictions, {}, &run::ReadPrediction::row);
  if (has_decisions(run.predictions)) {
    run.accuracy = accuracy_interval(run.predictions);
  }
  run.log = page::read_run_log(files.log);
  return run;
}

/// An example that one run predicts right and another wrong.
struct Disagreement {
  std::int64_t row = 0;
  std::string gold = {};
  std::string first = {};   ///< prediction of the first run
  std::string second = {};  ///< prediction of the second run
};

/// The comparison of two runs on the same dev examples.
struct PairTest {
  std::size_t first = 0;  ///< indices of the two runs
  std::size_t second = 0;
  bool same_dev = false;  ///< if false, the other members are empty
  metrics::McNemar test = {};
  std::vector<Disagreement> disagreements = {};  ///< those whose losses differ most
};

inline bool same_dev(const ComparedRun& a, const ComparedRun& b) {
  return has_decisions(a.predictions) && has_decisions(b.predictions) &&
         std::ranges::equal(a.predictions, b.predictions, [](const auto& x, const auto& y) {
           return x.row == y.row && x.gold == y.gold;
         });
}

inline PairTest test_pair(std::span<const ComparedRun> runs, std::size_t first,
                          std::size_t second) {
  constexpr std::size_t most = 50;
  const auto& a = runs[first].predictions;
  const auto& b = runs[second].predictions;
  PairTest result{
      .first = first, .second = second, .same_dev = same_dev(runs[first], runs[second])};
  if (!result.same_dev) return result;
  std::vector<std::uint8_t> a_right, b_right;
  std::vector<std::pair<double, std::size_t>> differing;
  for (std::size_t i = 0; i < a.size(); ++i) {
    a_right.push_back(a[i].right() ? 1 : 0);
    b_right.push_back(b[i].right() ? 1 : 0);
    if (a_right[i] != b_right[i]) differing.emplace_back(-std::abs(a[i].loss - b[i].loss), i);
  }
  result.test = metrics::mcnemar(a_right, b_right);
  std::ranges::sort(differing, [](const auto& x, const auto& y) {
    return std::isnan(x.first) || std::isnan(y.first) ? x.second < y.second : x < y;
  });
  for (std::size_t k = 0; k < std::min(most, differing.size()); ++k) {
    const std::size_t i = differing[k].second;
    result.disagreements.push_back({a[i].row, a[i].gold, a[i].predicted, b[i].predicted});
  }
  return result;
}

/// Stands for a flag that a run does not have or that is empty.
inline constexpr const char* none_given = "–";

/// Returns the reason why two runs cannot be compared by McNemar's test.
inline std::string why_untested(const ComparedRun& a, const ComparedRun& b) {
  const auto predicts_numbers = [](const ComparedRun& run) {
    return !run.predictions.empty() && !has_decisions(run.predictions);
  };
  return predicts_numbers(a) && predicts_numbers(b) ? "regression, to which the test does not apply"
                                                    : "other dev examples, or no predictions";
}

inline std::string flag_of(const ComparedRun& run, const std::string& name) {
  for (const auto& [key, value] : run.flags) {
    if (key == name) return value.empty() ? none_given : value;
  }
  return none_given;
}

/// Returns a sentence that names the flags that make the losses of runs differ in kind, or "".
[[nodiscard]] inline std::string different_losses(std::span<const ComparedRun> runs) {
  std::string names;
  for (const char* name :
       {"loss", "focal-gamma", "huber-delta", "label-smoothing-factor", "class-weights", "teacher",
        "teacher-share", "teacher-temperature", "few-shot", "problem-type"}) {
    const auto differs = [&](const ComparedRun& run) {
      return flag_of(run, name) != flag_of(runs[0], name);
    };
    if (std::ranges::any_of(runs, differs)) {
      names += (names.empty() ? "--" : ", --") + std::string{name};
    }
  }
  if (names.empty()) return {};
  return "The losses are of different kinds and cannot be compared: the runs differ in " + names;
}

template <class Name, class Range>
void add_new(std::vector<std::string>& names, const Range& range, const Name& name) {
  for (const auto& each : range) {
    if (std::ranges::count(names, name(each)) == 0) names.push_back(name(each));
  }
}

/// Returns a table with a row for each name and a column for each run. `cell(run, name)` is the
/// text of a cell.
template <class Cell>
report::Rows rows_by_name(const std::string& head, std::span<const ComparedRun> runs,
                          const std::vector<std::string>& names, const Cell& cell) {
  report::Rows rows{{head}};
  for (const auto& run : runs) rows[0].push_back(run.name);
  for (const auto& name : names) {
    auto& row = rows.emplace_back(std::vector<std::string>{name});
    for (const auto& run : runs) row.push_back(cell(run, name));
  }
  return rows;
}

/// Returns a figure as text. Accuracy has its 95 % interval if there are predictions.
inline std::string figure_text(const ComparedRun& run, const std::string& name) {
  const double value = metrics::value_of(run.figures, name);
  const std::string text = name == "examples" ? html::number(value, 12) : html::number(value);
  if (name != "accuracy" || !run.accuracy) return text;
  return text + " [" + log::fixed(run.accuracy->low, 4) + ", " + log::fixed(run.accuracy->high, 4) +
         "]";
}

/// Returns a table with a row for each flag whose values differ between the runs.
[[nodiscard]] inline report::Rows flag_rows(std::span<const ComparedRun> runs) {
  std::vector<std::string> names;
  for (const auto& run : runs) {
    add_new(names, run.flags, [](const auto& flag) { return flag.first; });
  }
  auto rows = rows_by_name("flag", runs, names, flag_of);
  const auto equal = [](const auto& row) {
    return std::set<std::string>(row.begin() + 1, row.end()).size() <= 1;
  };
  rows.erase(std::remove_if(rows.begin() + 1, rows.end(), equal), rows.end());
  return rows;
}

/// Returns a table with a row for each figure of dev.
[[nodiscard]] inline report::Rows figure_rows(std::span<const ComparedRun> runs) {
  std::vector<std::string> names;
  for (const auto& run : runs) {
    add_new(names, run.figures, [](const auto& figure) { return figure.name; });
  }
  auto rows = rows_by_name("figure of dev", runs, names, figure_text);
  if (different_losses(runs).empty()) return rows;
  for (auto& row : rows) {
    if (row[0] == "loss") row[0] = "loss (of different kinds)";
  }
  return rows;
}

/// Compares each pair of runs by McNemar's exact test.
[[nodiscard]] inline std::vector<PairTest> pair_tests(std::span<const ComparedRun> runs) {
  std::vector<PairTest> tests;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (std::size_t j = i + 1; j < runs.size(); ++j) {
      tests.push_back(test_pair(runs, i, j));
    }
  }
  return tests;
}

/// Returns a table with a row for each pair of runs.
[[nodiscard]] inline report::Rows pair_rows(std::span<const ComparedRun> runs,
                                            std::span<const PairTest> tests) {
  report::Rows rows{{"runs", "only the first right", "only the second right", "McNemar's p"}};
  for (const auto& each : tests) {
    const std::string pair = runs[each.first].name + ", " + runs[each.second].name;
    if (each.same_dev) {
      rows.push_back({pair, std::to_string(each.test.first_only),
                      std::to_string(each.test.second_only), html::number(each.test.p, 3)});
    } else {
      rows.push_back(
          {pair + ": " + why_untested(runs[each.first], runs[each.second]), "–", "–", "–"});
    }
  }
  return rows;
}

inline html::Chart curves_of(std::span<const ComparedRun> runs, const std::string& id,
                             const std::string& title, const std::string& figure, bool dev) {
  html::Chart chart{.id = id, .title = title, .x = "optimizer step", .y = figure};
  for (const auto& run : runs) {
    chart.lines.push_back({.name = run.name,
                           .points = dev ? run.log.dev_curve(figure) : run.log.curve(figure),
                           .dots = dev});
  }
  return chart;
}

/// Returns a table of the first disagreements of a pair, with texts of at most `bytes` bytes.
inline report::Rows disagreement_rows(std::span<const ComparedRun> runs, const PairTest& pair,
                                      std::size_t most, std::size_t bytes) {
  const auto& texts = runs[pair.first].texts;
  report::Rows rows{{"row", "gold", runs[pair.first].name, runs[pair.second].name}};
  if (!texts.empty()) rows[0].push_back("text");
  for (const auto& [row, gold, first, second] : pair.disagreements) {
    if (rows.size() > most) break;
    rows.push_back({std::to_string(row), html::cut(gold, bytes), html::cut(first, bytes),
                    html::cut(second, bytes)});
    if (texts.empty()) continue;
    const auto text = texts.find(row);
    rows.back().push_back(text == texts.end() ? "" : html::cut(text->second, bytes));
  }
  return rows;
}

/// Adds the texts of the dev examples on which runs disagree, from each run's file of examples. A
/// run has no texts if it shows none in its page, or if the file is not there or has changed.
inline void add_texts(std::span<ComparedRun> runs) {
  constexpr std::size_t most_bytes = 500;
  for (const auto& pair : pair_tests(runs)) {
    ComparedRun& run = runs[pair.first];
    const auto flag = [&run](const std::string& name) {
      const std::string value = flag_of(run, name);
      return value == none_given ? std::string{} : value;
    };
    const bool held_out =
        flag("dev-file").empty() || !(flag("dev-fraction").empty() || flag("dev-fraction") == "0");
    const std::filesystem::path file = flag(held_out ? "train-file" : "dev-file");
    std::error_code none;
    if (flag("report-texts") == "false" || !std::filesystem::exists(file, none)) continue;
    std::set<std::int64_t> wanted;
    for (const auto& each : pair.disagreements) wanted.insert(each.row);
    const data::ReadOptions read{.text_field = flag("text-field"),
                                 .pair_field = flag("pair-field"),
                                 .columns = split_at_commas(flag("columns")),
                                 .labelled = false};
    try {
      data::visit_examples(file, read, data::Labels::regression(),
                           [&](const data::ExamplePlace& at, const data::Example& example) {
                             const auto row = static_cast<std::int64_t>(at.record);
                             if (!wanted.contains(row)) return;
                             std::string text = html::cut(example.text, most_bytes);
                             if (example.text_pair) {
                               text += " | " + html::cut(*example.text_pair, most_bytes);
                             }
                             run.texts[row] = std::move(text);
                           });
    } catch (const InputError&) {
      run.texts.clear();
    }
  }
}

/// Returns the comparison as text for a terminal.
[[nodiscard]] inline std::string comparison_text(std::span<const ComparedRun> runs) {
  const auto tests = pair_tests(runs);
  std::string out = report::align(flag_rows(runs)) + "\n" + report::align(figure_rows(runs));
  if (const auto note = different_losses(runs); !note.empty()) out += note + "\n";
  if (!tests.empty()) out += "\n" + report::align(pair_rows(runs, tests));
  for (const auto& each : tests) {
    if (each.disagreements.empty()) continue;
    out += "\n" + report::align(disagreement_rows(runs, each, 5, 120));
  }
  return out;
}

/// Returns the comparison as an HTML page.
[[nodiscard]] inline std::string comparison_page(std::span<const ComparedRun> runs) {
  const auto tests = pair_tests(runs);
  std::string out = "<header>" + html::element("h1", "Runs side by side") +
                    "</header><main id=\"main\"><section><h2>Flags that differ</h2>" +
                    html::table(flag_rows(runs), "Flags that differ") +
                    "</section><section><h2>Figures</h2>" +
                    html::table(figure_rows(runs), "Figures of dev, with 95 % intervals");
  if (const auto note = different_losses(runs); !note.empty()) out += html::element("p", note);
  out += html::to_html(curves_of(runs, "loss", "Training loss", "loss", false));
  out += html::to_html(curves_of(runs, "dev-loss", "Dev loss", "loss", true));
  out += html::to_html(curves_of(runs, "dev-accuracy", "Dev accuracy", "accuracy", true));
  out += "</section><section><h2>Pairs of runs</h2>";
  if (!tests.empty()) {
    out += html::table(pair_rows(runs, tests), "McNemar's exact test on the dev examples");
  }
  for (const auto& each : tests) {
    if (each.disagreements.empty()) continue;
    out += html::table(disagreement_rows(runs, each, each.disagreements.size(), 200),
                       "Examples that " + runs[each.first].name + " or " + runs[each.second].name +
                           " gets right and the other wrong");
  }
  return html::framed("Runs side by side", out + "</section></main>");
}

}  // namespace compare

}  // namespace seqtrain::page
