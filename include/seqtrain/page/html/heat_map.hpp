#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/page/html/table.hpp>
#include <seqtrain/page/html/text.hpp>

namespace seqtrain::page::html {

/// The largest number of labels at which a confusion matrix can still be read.
inline constexpr std::size_t most_heat_labels = 25;

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
    const std::string name = metrics::label_name(names, i);
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
             escaped(metrics::label_name(names, gold)) + ", predicted " +
             escaped(metrics::label_name(names, said)) + ": " + html::count(count) + ", " +
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
