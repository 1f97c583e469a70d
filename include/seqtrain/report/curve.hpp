#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include <seqtrain/log/format.hpp>
#include <seqtrain/train/find_learning_rate.hpp>

namespace seqtrain::report {

/// Returns the curve of a learning-rate range test as an SVG picture: the loss over the learning
/// rate on a logarithmic axis, with a dot at the suggested rate. The curve must have at least one
/// point.
[[nodiscard]] inline std::string svg(const train::LearningRateCurve& curve) {
  constexpr double width = 640, height = 400, margin = 60;
  const auto extremes =
      std::ranges::minmax(curve.points, {}, [](const auto& point) { return point.loss; });
  const double lowest = extremes.min.loss;
  const double highest = extremes.max.loss;
  const double first = std::log10(curve.points.front().learning_rate);
  const double decades = std::max(1.0, std::log10(curve.points.back().learning_rate) - first);
  const double span = std::max(1e-12, highest - lowest);
  const auto x = [&](double rate) {
    return log::fixed(margin + (std::log10(rate) - first) / decades * (width - 2 * margin), 1);
  };
  const auto y = [&](double loss) {
    return log::fixed(height - margin - (loss - lowest) / span * (height - 2 * margin), 1);
  };
  const auto text = [](const std::string& at_x, const std::string& at_y, const std::string& what) {
    return "<text x=\"" + at_x + "\" y=\"" + at_y + "\" text-anchor=\"middle\">" + what +
           "</text>\n";
  };
  std::string line;
  for (const auto& point : curve.points) line += x(point.learning_rate) + "," + y(point.loss) + " ";
  std::string picture =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 400\" "
      "font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"640\" height=\"400\" fill=\"white\"/>\n";
  for (double decade = std::ceil(first); decade <= first + decades; ++decade) {
    picture += text(x(std::pow(10, decade)), "360", "1e" + log::fixed(decade, 0));
  }
  picture += text("320", "385", "learning rate") + text("30", y(lowest), log::fixed(lowest, 3));
  picture += text("30", y(highest), log::fixed(highest, 3)) + text("30", "30", "loss");
  picture +=
      "<polyline fill=\"none\" stroke=\"#1f77b4\" stroke-width=\"2\" points=\"" + line + "\"/>\n";
  const double suggestion = curve.suggestion();
  const auto nearest = std::ranges::min_element(curve.points, {}, [&](const auto& point) {
    return std::abs(std::log(point.learning_rate / suggestion));
  });
  picture += "<circle cx=\"" + x(nearest->learning_rate) + "\" cy=\"" + y(nearest->loss) +
             "\" r=\"5\" fill=\"#d62728\"/>\n";
  return picture + "</svg>\n";
}

}  // namespace seqtrain::report
