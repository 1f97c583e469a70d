#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/metrics/stability_index.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::metrics {
namespace {

using Shares = std::vector<double>;

TEST(StabilityIndexOfShares, FollowsItsFormula) {
  EXPECT_DOUBLE_EQ(stability_index(Shares{0.2, 0.8}, Shares{0.2, 0.8}), 0);
  EXPECT_NEAR(stability_index(Shares{0.5, 0.5}, Shares{0.25, 0.75}),
              -0.25 * std::log(0.5) + 0.25 * std::log(1.5), 1e-12);
}

TEST(StabilityIndexOfShares, IsFiniteForAShareOfNothing) {
  EXPECT_NEAR(stability_index(Shares{1, 0}, Shares{0.5, 0.5}),
              -0.5 * std::log(0.5) + (0.5 - 1e-4) * std::log(0.5 / 1e-4), 1e-12);
}

TEST(StabilityIndexOfShares, NeedsTheSameBins) {
  EXPECT_EQ(tests::problem_of([] {
              (void)stability_index(Shares{0.5, 0.5}, Shares{1});
            }),
            "stability index of 2 and 1 shares");
}

}  // namespace
}  // namespace seqtrain::metrics
