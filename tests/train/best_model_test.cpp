#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/train/best_model.hpp>

#include "support/fakes.hpp"

namespace seqtrain::train {
namespace {

tests::FakeModel model_with(double weight) {
  tests::FakeModel model;
  model.load_state_dict(tests::FakeState{{{"w", weight}}}.views());
  return model;
}

TEST(BestModel, KeepsTheParametersOfTheBestEpoch) {
  BestModel best;
  std::vector<metrics::ClassificationReport> dev;
  double weight = 0;
  for (const double accuracy : {0.5, 0.9, 0.7}) {
    dev.push_back({.accuracy = accuracy});
    best.offer(model_with(++weight), dev, {});
  }
  auto model = model_with(9);
  best.apply(model);
  EXPECT_EQ(model.weight(), 2);
}

TEST(BestModel, DoesNothingWhereItIsDisabledOrWithoutEvaluations) {
  BestModel disabled{false}, unused;
  disabled.offer(model_with(1), std::vector<metrics::ClassificationReport>(1), {});
  unused.offer(model_with(1), {}, {});
  auto model = model_with(9);
  disabled.apply(model);
  unused.apply(model);
  EXPECT_EQ(model.weight(), 9);
  EXPECT_TRUE(unused.views().empty());
}

TEST(BestModel, TakesBackWhatACheckpointKept) {
  BestModel best;
  best.restore(tests::FakeState{{{"w", 4.0}}}.views());
  auto model = model_with(9);
  best.apply(model);
  EXPECT_EQ(model.weight(), 4);
  best.clear();
  EXPECT_TRUE(best.views().empty());
}

}  // namespace
}  // namespace seqtrain::train
