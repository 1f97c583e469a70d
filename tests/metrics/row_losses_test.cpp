#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <seqtrain/metrics/row_losses.hpp>

namespace seqtrain::metrics {
namespace {

constexpr double diverged = std::numeric_limits<double>::quiet_NaN();

TEST(MeanRowLoss, IsWeightedOverAllBatches) {
  MeanRowLoss mean;
  EXPECT_TRUE(std::isnan(mean.value()));
  mean.add({.losses = {1, 3}, .weights = {1, 2}});
  mean.add({.losses = {5}, .weights = {1}});
  EXPECT_EQ(mean.value(), 3);
}

TEST(MeanRowLoss, LeavesRowsWithoutALabelOut) {
  MeanRowLoss mean;
  mean.add({.losses = {diverged, 3}, .weights = {0, 2}});
  EXPECT_EQ(mean.value(), 3);
}

TEST(MeanRowLoss, OfAModelThatHasDivergedIsNan) {
  MeanRowLoss mean;
  mean.add({.losses = {diverged, 3}, .weights = {1, 1}});
  EXPECT_TRUE(std::isnan(mean.value()));
}

}  // namespace
}  // namespace seqtrain::metrics
