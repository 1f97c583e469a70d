#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/report/curve.hpp>

namespace seqtrain::report {
namespace {

TEST(Curve, IsAPictureOfAllPointsAndTheSuggestion) {
  train::LearningRateCurve curve{.steps = 10};
  for (int i = 0; i < 10; ++i) curve.points.push_back({std::pow(10, i - 7), 5.0 - i});
  const std::string picture = svg(curve);
  EXPECT_TRUE(picture.starts_with("<svg xmlns="));
  EXPECT_TRUE(picture.ends_with("</svg>\n"));
  EXPECT_NE(picture.find("points=\"60.0,60.0 "), std::string::npos) << picture;
  EXPECT_NE(picture.find("580.0,340.0 "), std::string::npos) << picture;
  EXPECT_NE(picture.find(">1e-7<"), std::string::npos) << picture;
  EXPECT_NE(picture.find(">1e2<"), std::string::npos) << picture;
  EXPECT_NE(picture.find("<circle"), std::string::npos);
}

TEST(Curve, MayHaveOnePoint) {
  const std::string picture = svg({.points = {{1e-3, 2}}, .steps = 6});
  EXPECT_EQ(picture.find("nan"), std::string::npos) << picture;
}

}  // namespace
}  // namespace seqtrain::report
