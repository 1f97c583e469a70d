#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/predict/uncertainty.hpp>

namespace seqtrain::predict {
namespace {

constexpr auto choice = ProblemType::single_label, choices = ProblemType::multi_label;
using SomeScores = std::vector<double>;

TEST(UncertaintyOfScores, IsFromZeroToOne) {
  for (const auto measure : {Uncertainty::entropy, Uncertainty::margin}) {
    EXPECT_DOUBLE_EQ(uncertainty(SomeScores{1, 0, 0}, choice, measure), 0);
    EXPECT_NEAR(uncertainty(SomeScores(4, 0.25), choice, measure), 1, 1e-12);
    EXPECT_DOUBLE_EQ(uncertainty(SomeScores{1, 0, 0}, choices, measure), 0);
    EXPECT_NEAR(uncertainty(SomeScores(3, 0.5), choices, measure), 1, 1e-12);
  }
}

TEST(UncertaintyOfScores, FollowsItsFormula) {
  EXPECT_NEAR(uncertainty(SomeScores{0.5, 0.3, 0.2}, choice, Uncertainty::margin), 0.8, 1e-12);
  const double entropy = -(0.5 * std::log(0.5) + 0.3 * std::log(0.3) + 0.2 * std::log(0.2));
  EXPECT_NEAR(uncertainty(SomeScores{0.5, 0.3, 0.2}, choice, Uncertainty::entropy),
              entropy / std::log(3.0), 1e-12);
  EXPECT_NEAR(uncertainty(SomeScores{0.9, 0.4}, choices, Uncertainty::margin), 0.8, 1e-12);
  const auto bits = [](double p) { return -p * std::log2(p) - (1 - p) * std::log2(1 - p); };
  EXPECT_NEAR(uncertainty(SomeScores{0.9, 0.4}, choices, Uncertainty::entropy),
              (bits(0.9) + bits(0.4)) / 2, 1e-12);
}

TEST(MostUncertain, KeepsTheGreatestInOrder) {
  MostUncertain kept{3};
  const SomeScores values{0.1, 0.5, 0.9, 0.5, 0.5, 0.2};
  for (std::size_t i = 0; i < values.size(); ++i) kept.add(values[i], std::to_string(i));
  EXPECT_EQ(kept.take(), (std::vector<std::string>{"2", "1", "3"}));
  EXPECT_TRUE(kept.take().empty());
  kept.add(0.4, "a");
  EXPECT_EQ(kept.take(), std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace seqtrain::predict
