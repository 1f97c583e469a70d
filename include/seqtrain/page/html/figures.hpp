#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/page/html/table.hpp>
#include <seqtrain/page/html/text.hpp>

namespace seqtrain::page::html {

/// A value between 0 and 1 in a row of a figure, with the bounds of its interval.
struct Bar {
  double value = 0;
  double low = -1;  ///< below 0 if there are no bounds
  double high = -1;
};

/// A row of a figure of bars.
struct BarRow {
  std::string name = {};
  std::vector<Bar> bars = {};  ///< one for each series
};

/// A figure with a row for each name, which shows the values of a few series as bars, or as dots
/// with bounds.
struct Bars {
  std::string id = {};
  std::string title = {};
  std::vector<std::string> series = {};
  std::vector<BarRow> rows = {};
};

namespace detail {

inline std::string draw(const Bars& bars, std::size_t& marks) {
  constexpr double left = 150, right = 590, line = 13;
  const auto at = [](double value) { return left + std::clamp(value, 0.0, 1.0) * (right - left); };
  const double row_height = line * static_cast<double>(bars.series.size()) + 8;
  const double bottom = 20 + row_height * static_cast<double>(bars.rows.size());
  std::string out =
      svg_begin(bars.id, 640, bottom + 24, bars.title,
                "The figure has a row for each of " + std::to_string(bars.rows.size()) +
                    " names; the numbers are in the table.");
  out += "<g class=\"axes\">";
  for (int tick = 0; tick <= 4; ++tick) {
    const double x = at(tick / 4.0);
    out += "<path d=\"M" + log::fixed(x, 1) + " 16 V" + log::fixed(bottom, 1) + "\"/>" +
           svg_text(x, 11, "middle", number(tick / 4.0));
  }
  for (std::size_t i = 0; i < bars.rows.size(); ++i) {
    const double y = 24 + row_height * static_cast<double>(i);
    out += svg_text(left - 8, y + row_height / 2, "end", cut(bars.rows[i].name, 20));
  }
  out += "</g>";
  for (std::size_t i = 0; i < bars.rows.size(); ++i) {
    for (std::size_t s = 0; s < bars.rows[i].bars.size(); ++s) {
      const Bar& bar = bars.rows[i].bars[s];
      const std::string color = std::to_string(s % 8);
      const double y =
          24 + row_height * static_cast<double>(i) + line * static_cast<double>(s) + line / 2;
      const std::string title = "<title>" + escaped(bars.rows[i].name) + ", " +
                                escaped(bars.series[s]) + ": " + number(bar.value) + "</title>";
      ++marks;
      if (bar.low < 0) {
        out += "<rect class=\"m f" + color + "\" x=\"" + log::fixed(left, 1) + "\" y=\"" +
               log::fixed(y - 4, 1) + "\" width=\"" +
               log::fixed(std::max(at(bar.value) - left, 0.5), 1) + "\" height=\"9\">" + title +
               "</rect>";
      } else {
        out += "<path class=\"line s" + color + "\" d=\"M" + log::fixed(at(bar.low), 1) + " " +
               log::fixed(y, 1) + " H" + log::fixed(at(bar.high), 1) + "\"/><circle class=\"m f" +
               color + "\" cx=\"" + log::fixed(at(bar.value), 1) + "\" cy=\"" + log::fixed(y, 1) +
               "\" r=\"4\">" + title + "</circle>";
      }
    }
  }
  out += "<g class=\"legend\">";
  for (std::size_t s = 0; s < bars.series.size(); ++s) {
    const double x = left + 130 * static_cast<double>(s);
    out += "<circle class=\"f" + std::to_string(s % 8) + "\" cx=\"" + log::fixed(x, 1) +
           "\" cy=\"" + log::fixed(bottom + 12, 1) + "\" r=\"4\"/>" +
           svg_text(x + 9, bottom + 16, "start", bars.series[s]);
  }
  return out + "</g></svg>";
}

}  // namespace detail

/// Returns the rows as an HTML figure with the table `numbers`, or an empty string if there are no
/// rows.
[[nodiscard]] inline std::string to_html(const Bars& bars, const std::string& numbers) {
  if (bars.rows.empty()) return {};
  std::size_t marks = 0;
  const std::string svg = detail::draw(bars, marks);
  return figure(bars.id, bars.title, svg, marks, numbers);
}

/// Returns confusion counts as an HTML figure. A cell is a link if `link(gold, said)` returns an
/// address.
[[nodiscard]] inline std::string heat_map(
    const std::string& id, std::string_view title, const metrics::Confusion& counts,
    std::span<const std::string> names, const report::Rows& rows,
    const std::function<std::string(std::size_t, std::size_t)>& link) {
  const auto labels = static_cast<std::size_t>(counts.rows());
  const double size = std::clamp(480.0 / static_cast<double>(labels), 19.0, 84.0);
  constexpr double left = 140, top = 46;
  const double end = size * static_cast<double>(labels);
  std::string out = svg_begin(id, left + end + 10, top + end + 10, title,
                              "A row for each gold label, a column for each predicted one. The "
                              "table has the counts.");
  out += "<g class=\"axes\">" + svg_text(left + end / 2, 14, "middle", "predicted") +
         svg_text(-(top + end / 2), 13, "middle", "gold", svg_upwards);
  const auto characters = static_cast<std::size_t>(std::max(3.0, size / 7));
  for (std::size_t i = 0; i < labels; ++i) {
    const double at = size * (static_cast<double>(i) + 0.5);
    const std::string name = metrics::shown_label(names, i);
    out += svg_text(left - 6, top + at + 4, "end", cut(name, 16)) +
           svg_text(left + at, top - 6, "middle", cut(name, characters));
  }
  out += "</g>";
  std::size_t marks = 0;
  for (std::size_t gold = 0; gold < labels; ++gold) {
    const auto row = static_cast<Eigen::Index>(gold);
    const double all = static_cast<double>(std::max<std::int64_t>(counts.row(row).sum(), 1));
    for (std::size_t said = 0; said < labels; ++said, ++marks) {
      const std::int64_t count = counts(row, static_cast<Eigen::Index>(said));
      const double share = static_cast<double>(count) / all;
      const double x = left + size * static_cast<double>(said);
      const double y = top + size * static_cast<double>(gold);
      const std::string address = count > 0 ? link(gold, said) : std::string{};
      if (!address.empty()) {
        out += "<a" + attribute("href", address) + " data-cell=\"" + std::to_string(gold) + "-" +
               std::to_string(said) + "\">";
      }
      out += "<rect class=\"cell m" + std::string{gold == said ? " right" : ""} + "\" x=\"" +
             log::fixed(x + 1, 1) + "\" y=\"" + log::fixed(y + 1, 1) + "\" width=\"" +
             log::fixed(size - 2, 1) + "\" height=\"" + log::fixed(size - 2, 1) +
             "\" fill-opacity=\"" + log::fixed(0.06 + 0.94 * share, 2) + "\"><title>gold " +
             escaped(metrics::shown_label(names, gold)) + ", predicted " +
             escaped(metrics::shown_label(names, said)) + ": " + html::count(count) + ", " +
             log::fixed(100 * share, 1) + " % of the gold label</title></rect>";
      if (size >= 34) {
        out += svg_text(x + size / 2, y + size / 2 + 4, "middle", html::count(count),
                        attribute("class", share > 0.5 ? "strong" : "weak"));
      }
      if (!address.empty()) out += "</a>";
    }
  }
  return figure(id, title, out + "</svg>", marks, table(rows));
}

}  // namespace seqtrain::page::html
