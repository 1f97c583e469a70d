#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/metrics/point.hpp>

namespace seqtrain::metrics {
namespace {

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
}  // namespace seqtrain::metrics
