#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <seqtrain/page/html/table.hpp>
#include <seqtrain/page/html/text.hpp>

namespace seqtrain::page::html {

/// A point of a curve.
struct Point {
  double x = 0;
  double y = 0;

  friend bool operator==(const Point&, const Point&) = default;
};

/// Returns at most `most` points of a curve, in their order. It keeps the first and the last point,
/// and the lowest and the highest of equal parts, so no extreme is lost. `most` must be at least 4.
inline std::vector<Point> thin(std::span<const Point> points, std::size_t most) {
  if (points.size() <= most) return {points.begin(), points.end()};
  const auto inner = points.subspan(1, points.size() - 2);
  const std::size_t parts = (most - 2) / 2;
  std::vector<Point> kept{points.front()};
  for (std::size_t i = 0; i < parts; ++i) {
    const std::size_t begin = i * inner.size() / parts;
    const auto part = inner.subspan(begin, (i + 1) * inner.size() / parts - begin);
    const auto [low, high] = std::ranges::minmax_element(part, {}, &Point::y);
    kept.push_back(*std::min(low, high));
    if (low != high) kept.push_back(*std::max(low, high));
  }
  kept.push_back(points.back());
  return kept;
}

/// The bounds of an axis.
struct Range {
  double low = 0;
  double high = 1;
};

/// A series of a chart, drawn as a curve or as points.
struct Line {
  std::string name = {};
  std::vector<Point> points = {};
  bool line = true;
  bool dots = false;
};

/// A vertical line across a chart.
struct Mark {
  double x = 0;
  std::string text = {};
};

/// A chart of curves. Points that are not finite are left out.
struct Chart {
  std::string id = {};  ///< letters, digits and hyphens
  std::string title = {};
  std::string x = {};  ///< title of the axis
  std::string y = {};
  std::vector<Line> lines = {};
  std::vector<Mark> marks = {};
  std::optional<Range> x_range = {};  ///< by default the range of the points
  std::optional<Range> y_range = {};
  bool whole_x = false;   ///< ticks of the x axis are at whole numbers
  bool diagonal = false;  ///< a faint line from corner to corner
};

namespace detail {

/// Returns a distance between ticks, 1, 2 or 5 times a power of ten, that gives about `count` of
/// them.
inline double tick_step(const Range& range, int count) {
  const double raw = (range.high - range.low) / count;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (raw <= factor * power) return factor * power;
  }
  return 10 * power;
}

/// Returns the multiples of `step` in a range, at most 50.
[[nodiscard]] inline std::vector<double> ticks(const Range& range, double step) {
  std::vector<double> result;
  const double first = std::ceil(range.low / step);
  for (int i = 0; i < 50 && (first + i) * step <= range.high; ++i) {
    result.push_back(first + i == 0 ? 0 : (first + i) * step);  // never -0
  }
  return result;
}

/// Draws a chart.
class Plot {
 public:
  static constexpr double width = 640, height = 250;
  static constexpr std::size_t most_points = 400;  // points of a curve; more cannot be seen
  static constexpr std::size_t few_points = 10;    // a curve of so few has dots too

  explicit Plot(const Chart& chart)
      : chart_{&chart},
        x_{chart.x_range.value_or(range(&Point::x))},
        y_{chart.y_range.value_or(range(&Point::y))} {}

  [[nodiscard]] std::string draw() {
    std::string body = axes();
    if (chart_->diagonal) {
      body +=
          "<path class=\"faint\" d=\"M" + place(left, bottom) + " L" + place(right, top) + "\"/>";
    }
    for (const Mark& mark : chart_->marks) body += draw(mark);
    for (std::size_t i = 0; i < chart_->lines.size(); ++i) body += draw(chart_->lines[i], i);
    return svg_begin(chart_->id, width, height + legend_height(), chart_->title, description()) +
           body + legend() + "</svg>";
  }

  [[nodiscard]] std::size_t marks() const { return marks_; }

 private:
  static constexpr double left = 74, right = width - 14, top = 14, bottom = height - 38;

  [[nodiscard]] Range range(double Point::*member) const {
    Range found{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    for (const Line& line : chart_->lines) {
      for (const Point& point : line.points) {
        if (!std::isfinite(point.x) || !std::isfinite(point.y)) continue;
        found.low = std::min(found.low, point.*member);
        found.high = std::max(found.high, point.*member);
      }
    }
    if (found.low > found.high) return {0, 1};
    // Values that hardly differ are drawn as equal, because no tick fits between them.
    const double size = std::max({std::abs(found.low), std::abs(found.high), 1e-8});
    const double room =
        found.high - found.low > size * 1e-9 ? (found.high - found.low) * 0.04 : size * 0.1;
    return {found.low - room, found.high + room};
  }

  [[nodiscard]] double at_x(double x) const {
    return left + (x - x_.low) / (x_.high - x_.low) * (right - left);
  }
  [[nodiscard]] double at_y(double y) const {
    return bottom - (y - y_.low) / (y_.high - y_.low) * (bottom - top);
  }
  static std::string tick(double value) {
    return value >= 99'999 ? log::brief(value) : number(value, 6);
  }
  static std::string place(double x, double y) { return log::fixed(x, 1) + " " + log::fixed(y, 1); }
  [[nodiscard]] std::string axes() const {
    std::string out = "<g class=\"axes\">";
    const double step_y = tick_step(y_, 6);
    const double step_x = std::max(tick_step(x_, 8), chart_->whole_x ? 1.0 : 0.0);
    for (const double y : ticks(y_, step_y)) {
      out += "<path d=\"M" + place(left, at_y(y)) + " H" + log::fixed(right, 1) + "\"/>" +
             svg_text(left - 6, at_y(y) + 4, "end", tick(y));
    }
    for (const double x : ticks(x_, step_x)) {
      out += svg_text(at_x(x), bottom + 16, "middle", tick(x));
    }
    out +=
        "<path class=\"base\" d=\"M" + place(left, bottom) + " H" + log::fixed(right, 1) + "\"/>";
    out += svg_text((left + right) / 2, bottom + 33, "middle", chart_->x);
    out += svg_text(-(top + bottom) / 2, 13, "middle", chart_->y, svg_upwards);
    return out + "</g>";
  }

  std::string draw(const Mark& mark) {
    if (mark.x < x_.low || mark.x > x_.high) return {};
    ++marks_;
    return "<path class=\"mark m\" d=\"M" + place(at_x(mark.x), top) + " V" +
           log::fixed(bottom, 1) + "\"><title>" + escaped(mark.text) + "</title></path>" +
           (at_x(mark.x) < (left + right) / 2
                ? svg_text(at_x(mark.x) + 4, top + 9, "start", cut(mark.text, 28))
                : svg_text(at_x(mark.x) - 4, top + 9, "end", cut(mark.text, 28)));
  }

  std::string draw(const Line& line, std::size_t index) {
    const auto points = thin(line.points, most_points);
    const std::string color = std::to_string(index % 8);
    std::string path, dots;
    bool pen_down = false;
    for (const Point& point : points) {
      const bool drawn = std::isfinite(point.x) && std::isfinite(point.y);
      if (drawn) {
        const std::string at = place(at_x(point.x), at_y(point.y));
        path += (pen_down ? " L" : " M") + at;
        if (line.dots || points.size() <= few_points) dots += dot(point, line, color);
      }
      pen_down = drawn;
    }
    if (!line.line || path.empty()) return dots;
    ++marks_;
    return "<path class=\"line m s" + color + "\" d=\"" + path.substr(1) + "\"><title>" +
           escaped(line.name) + "</title></path>" + dots;
  }

  std::string dot(const Point& point, const Line& line, const std::string& color) {
    ++marks_;
    return "<circle class=\"m f" + color + "\" cx=\"" + log::fixed(at_x(point.x), 1) + "\" cy=\"" +
           log::fixed(at_y(point.y), 1) + "\" r=\"" + (line.line ? "3.5" : "2.5") + "\"><title>" +
           escaped(line.name) + ": " + number(point.x, 6) + ", " + number(point.y) +
           "</title></circle>";
  }

  // The legend has three names in a row.
  [[nodiscard]] double legend_height() const {
    const std::size_t rows = (chart_->lines.size() + 2) / 3;
    return chart_->lines.size() < 2 ? 0 : 18 * static_cast<double>(rows) + 5;
  }

  [[nodiscard]] std::string legend() const {
    if (chart_->lines.size() < 2) return {};
    std::string out = "<g class=\"legend\">";
    for (std::size_t i = 0; i < chart_->lines.size(); ++i) {
      const double x = left + static_cast<double>(i % 3) * 190;
      const double y = height + 13 + 18 * static_cast<double>(i / 3);
      out += "<path class=\"line s" + std::to_string(i % 8) + "\" d=\"M" + place(x, y - 4) +
             " h20\"/>" + svg_text(x + 26, y, "start", cut(chart_->lines[i].name, 24));
    }
    return out + "</g>";
  }

  [[nodiscard]] std::string description() const {
    std::string out = chart_->y + " over " + chart_->x + ".";
    for (const Line& line : chart_->lines) {
      if (line.points.empty()) continue;
      const auto [low, high] = std::ranges::minmax_element(line.points, {}, &Point::y);
      out += " " + line.name + " goes from " + number(line.points.front().y) + " to " +
             number(line.points.back().y) + ", at least " + number(low->y) + ", at most " +
             number(high->y) + ".";
    }
    return out;
  }

  const Chart* chart_;
  Range x_;
  Range y_;
  std::size_t marks_ = 0;
};

/// Returns the points of a chart as rows of a table, at most 60 of each curve.
inline report::Rows rows_of(const Chart& chart) {
  constexpr std::size_t most = 60;
  report::Rows rows{{"curve", chart.x, chart.y}};
  for (const Line& line : chart.lines) {
    for (const Point& point : thin(line.points, most)) {
      rows.push_back({line.name, number(point.x, 8), number(point.y, 6)});
    }
  }
  for (const Mark& mark : chart.marks) rows.push_back({mark.text, number(mark.x, 8), ""});
  return rows;
}

}  // namespace detail

/// Returns a chart as an HTML figure, or an empty string if there is no curve of at least two
/// points and no series of points.
[[nodiscard]] inline std::string to_html(const Chart& chart) {
  const bool any = std::ranges::any_of(chart.lines, [](const Line& line) {
    const auto drawn = std::ranges::count_if(line.points, [](const Point& point) {
      return std::isfinite(point.x) && std::isfinite(point.y);
    });
    return drawn >= (line.line ? 2 : 1);
  });
  if (!any) return {};
  detail::Plot plot{chart};
  const std::string svg = plot.draw();
  return figure(chart.id, chart.title, svg, plot.marks(), table(detail::rows_of(chart)));
}

}  // namespace seqtrain::page::html
