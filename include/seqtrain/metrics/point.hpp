#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace seqtrain::metrics {

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

}  // namespace seqtrain::metrics
