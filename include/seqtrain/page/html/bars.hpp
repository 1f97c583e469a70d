#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

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

}  // namespace seqtrain::page::html
