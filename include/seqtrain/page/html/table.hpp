#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <seqtrain/core/shown_text.hpp>
#include <seqtrain/page/html/text.hpp>
#include <seqtrain/report/table.hpp>

namespace seqtrain::page::html {

/// Returns rows of plain text as an HTML table: the first row is its head, the first column is
/// aligned left. A line break in a cell is shown as `\n`. With JavaScript, columns can be sorted.
[[nodiscard]] inline std::string table(const report::Rows& rows, std::string_view caption = {}) {
  std::string out = "<div class=\"scroll\" tabindex=\"0\" role=\"region\"" +
                    attribute("aria-label", caption.empty() ? "table" : caption) +
                    "><table class=\"sortable\">";
  if (!caption.empty()) out += element("caption", caption);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out += i == 0 ? "<thead><tr>" : "<tr>";
    for (std::size_t j = 0; j < rows[i].size(); ++j) {
      if (i == 0) {
        out += "<th scope=\"col\">" + escaped(shown(rows[i][j])) + "</th>";
      } else if (j == 0) {
        out += "<th scope=\"row\"><bdi>" + escaped(shown(rows[i][j])) + "</bdi></th>";
      } else {
        out += "<td><bdi>" + escaped(shown(rows[i][j])) + "</bdi></td>";
      }
    }
    out += i == 0 ? "</tr></thead><tbody>" : "</tr>";
  }
  return out + (rows.empty() ? "</table></div>\n" : "</tbody></table></div>\n");
}

/// Returns an HTML figure: a title, a picture as SVG with a description for screen readers, and the
/// numbers as a table that unfolds. `marks` is the number of elements of class `m` in it.
[[nodiscard]] inline std::string figure(const std::string& id, std::string_view title,
                                        const std::string& svg, std::size_t marks,
                                        const std::string& numbers) {
  return "<figure" + attribute("id", id) + " data-marks=\"" + std::to_string(marks) + "\">" +
         element("figcaption", title) + svg + "<details><summary>Numbers: " + escaped(title) +
         "</summary>" + numbers + "</details></figure>\n";
}

/// The attribute of a text that runs upwards. Its x is the negative height, its y the place.
inline constexpr const char* svg_upwards = " transform=\"rotate(-90)\"";

/// Returns a text in an SVG picture. `anchor` is the part of the text that is at x: `start`,
/// `middle` or `end`. `attributes` are more of the element's attributes, with a space before each.
[[nodiscard]] inline std::string svg_text(double x, double y, const char* anchor,
                                          std::string_view text,
                                          const std::string& attributes = {}) {
  return "<text" + attributes + " x=\"" + log::fixed(x, 1) + "\" y=\"" + log::fixed(y, 1) +
         "\" text-anchor=\"" + anchor + "\">" + escaped(text) + "</text>";
}

/// Returns the opening tag of an SVG picture with its title and description.
[[nodiscard]] inline std::string svg_begin(const std::string& id, double width, double height,
                                           std::string_view title, std::string_view description) {
  const auto size = [](double length) { return log::fixed(length, 0); };
  return "<svg viewBox=\"0 0 " + size(width) + " " + size(height) + "\" width=\"" + size(width) +
         "\" height=\"" + size(height) + "\" role=\"img\" aria-labelledby=\"" + id + "-t " + id +
         "-d\"><title id=\"" + id + "-t\">" + escaped(title) + "</title><desc id=\"" + id +
         "-d\">" + escaped(description) + "</desc>";
}

}  // namespace seqtrain::page::html
