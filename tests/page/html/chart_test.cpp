#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/page/html/chart.hpp>

namespace seqtrain::page::html {
namespace {

std::string chart_of(const std::vector<double>& values) {
  Line line;
  for (std::size_t i = 0; i < values.size(); ++i) {
    line.points.push_back({static_cast<double>(i), values[i]});
  }
  return to_html(Chart{.id = "loss", .title = "Loss", .lines = {line}});
}

TEST(Chart, DrawsNumbersThatHardlyDiffer) {
  for (const double value : {0.3, -0.3, 1e300, 1e-300, 0.0, 123456789.0}) {
    const double next = std::nextafter(value, std::numeric_limits<double>::infinity());
    const auto drawn = chart_of({value, next, value});
    EXPECT_TRUE(drawn.find("</svg>") != std::string::npos) << value;
    EXPECT_LT(drawn.size(), 20'000U) << value;
  }
}

TEST(Chart, OfOnePointIsLeftOut) {
  EXPECT_EQ(chart_of({0.5}), "");
  EXPECT_EQ(chart_of({0.5, std::nan("")}), "");
  EXPECT_NE(chart_of({0.5, 0.4}), "");
  const Line dot{.points = {{1, 2}}, .line = false, .dots = true};
  EXPECT_NE(to_html(Chart{.id = "scatter", .lines = {dot}}), "");
}

TEST(Chart, OfFewPointsHasDots) {
  EXPECT_NE(chart_of({0.5, 0.4, 0.3}).find("<circle"), std::string::npos);
  EXPECT_EQ(chart_of(std::vector<double>(50, 0.5)).find("<circle"), std::string::npos);
}

TEST(Chart, HasFewTicksInAnyRange) {
  EXPECT_EQ(detail::ticks({-1, 2}, 1), (std::vector<double>{-1, 0, 1, 2}));
  EXPECT_EQ(detail::ticks({0.9, 1.9}, 0.5), (std::vector<double>{1, 1.5}));
  EXPECT_LE(detail::ticks({1, 1 + 1e-16}, 1e-17).size(), 50U);
  EXPECT_LE(detail::ticks({-1e308, 1e308}, 1).size(), 50U);
}

TEST(Thin, LeavesShortCurvesAlone) {
  const std::vector<Point> curve{{1, 2}, {2, 1}, {3, 5}};
  EXPECT_EQ(thin(curve, 4), curve);
}

TEST(Thin, KeepsEndsExtremesAndOrder) {
  std::vector<Point> curve;
  for (int i = 0; i < 100'000; ++i) curve.push_back({double(i), std::sin(i / 3000.0)});
  curve[41'234].y = 99;
  curve[77'777].y = -99;
  const auto kept = thin(curve, 500);
  EXPECT_LE(kept.size(), 500U);
  EXPECT_GT(kept.size(), 400U);
  EXPECT_EQ(kept.front(), curve.front());
  EXPECT_EQ(kept.back(), curve.back());
  EXPECT_TRUE(std::ranges::is_sorted(kept, {}, &Point::x));
  EXPECT_EQ(std::ranges::count(kept, curve[41'234]), 1);
  EXPECT_EQ(std::ranges::count(kept, curve[77'777]), 1);
}

TEST(Thin, KeepsAFlatCurve) {
  const std::vector<Point> curve(50, Point{1, 1});
  EXPECT_EQ(thin(curve, 10).size(), 10U);
}

}  // namespace
}  // namespace seqtrain::page::html
