#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/page/decisions.hpp>
#include <seqtrain/page/examples.hpp>
#include <seqtrain/page/facts.hpp>
#include <seqtrain/page/html/chart.hpp>
#include <seqtrain/page/html/figures.hpp>
#include <seqtrain/page/html/table.hpp>

namespace seqtrain::page {

namespace detail {

inline std::string lengths_figure(const RunFacts& facts) {
  html::Chart chart{
      .id = "lengths", .title = "Lengths of the examples", .x = "tokens", .y = "share of examples"};
  double longest = 1;
  for (const auto& [name, set] : {std::pair{"train", &facts.train}, std::pair{"dev", &facts.dev}}) {
    if (set->lengths.empty()) continue;
    chart.lines.push_back({.name = name, .points = set->lengths});
    longest = std::max(longest, set->lengths.back().x + set->lengths.front().x);  // the bin's end
  }
  if (facts.max_length > 0) {
    chart.marks.push_back({static_cast<double>(facts.max_length), "most tokens"});
  }
  chart.x_range = html::Range{0, longest * 1.02};
  return html::to_html(chart);
}

inline report::Rows sets_rows(const RunFacts& facts) {
  report::Rows rows{{"set", "file", "examples", "without a gold label", "cut or just fitting"}};
  const auto number = [](std::size_t value) {
    return html::count(static_cast<std::int64_t>(value));
  };
  for (const auto& [name, set] : {std::pair{"train", &facts.train}, std::pair{"dev", &facts.dev}}) {
    if (set->file.empty()) continue;
    const double share = set->examples == 0 ? 0
                                            : 100 * static_cast<double>(set->at_max_length) /
                                                  static_cast<double>(set->examples);
    rows.push_back({name, set->file, number(set->examples), number(set->left_out),
                    number(set->at_max_length) + " (" + log::fixed(share, 1) + " %)"});
  }
  return rows;
}

inline double share_of(const SetFacts& set, std::size_t label) {
  if (label >= set.labels.size() || set.examples == 0) return 0;
  return static_cast<double>(set.labels[label]) / static_cast<double>(set.examples);
}

inline std::string balance_figure(const RunFacts& facts) {
  const std::size_t labels = facts.train.labels.size();
  std::vector<std::size_t> order(labels);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const bool all = labels <= most_label_bars;
  if (!all) {
    std::ranges::stable_sort(order, std::greater{},
                             [&](std::size_t i) { return facts.train.labels[i]; });
  }
  html::Bars bars{.id = "balance",
                  .title = all ? "Share of examples with each label"
                               : "Share of examples with the most frequent labels",
                  .series = {"train", "dev"}};
  report::Rows rows{{"label", "train", "dev"}};
  for (const std::size_t i : order) {
    if (rows.size() > most_label_rows) break;
    const auto in_dev = i < facts.dev.labels.size() ? facts.dev.labels[i] : 0;
    const std::string name = short_name(facts.task, i);
    rows.push_back({name, html::count(facts.train.labels[i]), html::count(in_dev)});
    if (bars.rows.size() >= most_label_bars) continue;
    bars.rows.push_back({name, {{share_of(facts.train, i)}, {share_of(facts.dev, i)}}});
  }
  return html::to_html(bars, html::table(rows, "Examples by label"));
}

inline std::string conflicts_list(const PageContent& page) {
  if (page.conflicts.empty()) return {};
  std::string out =
      "<h3>Nearly equal texts with different labels</h3>\n<p>These dev examples differ in case, "
      "punctuation or a few words, but not in much else: usually one of the labels is an error.";
  if (page.conflicts_left_out > 0) {
    out += " " + std::to_string(page.conflicts_left_out) + " more groups are not shown.";
  }
  out += "</p><ul id=\"conflicts\">";
  for (const Conflict& group : page.conflicts) {
    out += "<li>";
    for (std::size_t i = 0; i < group.size(); ++i) {
      const auto& dev = *page.dev;
      const auto at = std::ranges::lower_bound(dev.rows, static_cast<std::int64_t>(group[i].row));
      const auto index = static_cast<std::size_t>(at - dev.rows.begin());
      out += (i == 0 ? "" : "; ") + std::string{"row "} + std::to_string(group[i].record) +
             ": <strong><bdi>" + html::escaped(names_of(dev.gold_labels(index), page.facts->task)) +
             "</bdi></strong>";
    }
    if (page.facts->texts) out += "<br>" + text_cell(group.front(), 600);
    out += "</li>\n";
  }
  return out + "</ul>";
}

}  // namespace detail

/// Returns the section of a page about the examples of the run.
[[nodiscard]] inline std::string data_section(const PageContent& page) {
  const RunFacts& facts = *page.facts;
  std::string out = "<section id=\"data\"><h2>Data</h2>\n";
  const report::Rows sets = detail::sets_rows(facts);
  if (sets.size() > 1) out += html::table(sets, "Files");
  out += detail::lengths_figure(facts);
  if (has_labels(facts.task.problem_type)) out += detail::balance_figure(facts);
  return out + detail::conflicts_list(page) + "</section>\n";
}

/// Returns the section of a page about the run itself: flags, versions, machine, places.
[[nodiscard]] inline std::string run_section(const PageContent& page) {
  const RunFacts& facts = *page.facts;
  const auto pairs = [](const std::string& first, const train::Pairs& all) {
    report::Rows rows{{first, "value"}};
    for (const auto& [name, value] : all) rows.push_back({name, html::cut(value, 300)});
    return rows;
  };
  std::string out = "<section id=\"run\"><h2>The run</h2>\n";
  if (!facts.model_place.empty()) {
    out += "<p>The model is in <code>" + html::escaped(facts.model_place) + "</code>.</p>";
  }
  if (!facts.command.empty()) {
    out += "<p>This command repeats the run:</p><pre tabindex=\"0\">" +
           html::escaped(facts.command) + "</pre>";
  }
  train::Pairs machine = facts.machine;
  if (!page.log.begin.empty()) {
    machine.emplace_back("begin", page.log.begin);
    machine.emplace_back("last record", page.log.last);
  }
  if (page.log.ended) machine.emplace_back("training", log::duration(page.log.seconds));
  if (!facts.changed.empty()) {
    out += html::table(pairs("flag", facts.changed), "Flags that differ from their defaults");
  }
  out += html::table(pairs("machine and time", machine), "Machine and time");
  if (!facts.versions.empty()) out += html::table(pairs("version of", facts.versions), "Versions");
  return out + "</section>\n";
}

}  // namespace seqtrain::page
