#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/train/gradients.hpp>

#include "support/fakes.hpp"

namespace seqtrain::train {
namespace {

/// A model that records the weights of its batches, and has its own weight for a batch.
struct Model : tests::FakeModel {
  tests::FakeLoss accumulate(const tests::FakeBatch& batch, double weight) {
    weights.push_back(weight);
    return {batch.x.front()};
  }
  std::vector<double> weights = {};
};
struct WeighingModel : Model {
  [[nodiscard]] double weight_of(const tests::FakeBatch& batch) const { return batch.x.front(); }
};

const std::vector<tests::FakeBatch> two_batches{{.rows = 1, .x = {9}}, {.rows = 3, .x = {1}}};

TEST(Accumulate, WeighsBatchesByTheirRows) {
  Model model;
  const auto loss = accumulate(model, std::span{two_batches});
  EXPECT_EQ(model.weights, (std::vector<double>{0.25, 0.75}));
  EXPECT_EQ(loss.value(), 0.25 * 9 + 0.75 * 1);
}

TEST(Accumulate, WeighsBatchesAsTheModelDoes) {
  WeighingModel model;
  const auto loss = accumulate(model, std::span{two_batches});
  EXPECT_EQ(model.weights, (std::vector<double>{0.9, 0.1}));
  EXPECT_EQ(loss.value(), 0.9 * 9 + 0.1 * 1);
}

TEST(Accumulate, GivesASingleBatchTheWholeWeight) {
  Model model;
  const auto loss = accumulate(model, std::span{two_batches}.first(1));
  EXPECT_EQ(model.weights, (std::vector<double>{1}));
  EXPECT_EQ(loss.value(), 9);
}

/// A model that takes a whole step at once.
struct StepModel : Model {
  StepLoss<Model> accumulate_step(std::span<const tests::FakeBatch> step) {
    StepLoss<Model> losses;
    losses.add(1, {static_cast<double>(step.size())});
    return losses;
  }
};

TEST(Accumulate, LeavesAWholeStepToAModelThatTakesIt) {
  StepModel model;
  EXPECT_EQ(accumulate(model, std::span{two_batches}).value(), 2);
  EXPECT_TRUE(model.weights.empty());
}

/// A loss that records when its value is read.
struct SlowLoss {
  explicit operator double() const { return ++*asked, 2; }
  int* asked;
};

struct SlowModel : tests::FakeModel {
  using loss_type = SlowLoss;
  SlowLoss accumulate(const tests::FakeBatch&, double) { return {asked}; }
  int* asked = nullptr;
};

TEST(StepLoss, WaitsForADeviceOnlyWhenItIsAsked) {
  int asked = 0;
  SlowModel model;
  model.asked = &asked;
  const auto loss = accumulate(model, std::span{two_batches});
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(loss.value(), 2);
  EXPECT_EQ(asked, 2);
}

struct SilentSgd {
  using parameter_type = tests::FakeParameter;
  void step(std::span<const tests::FakeParameter>, optim::Step step) { last = step; }
  [[nodiscard]] static double learning_rate() { return 0.1; }
  std::optional<optim::Step> last = {};
};

TEST(TakeStep, TakesAnOptimizerThatReturnsNothingByItsWord) {
  tests::FakeModel model;
  SilentSgd sgd;
  auto outcome = take_step(sgd, model, {.lr_scale = 0.5});
  EXPECT_TRUE(outcome.known());
  EXPECT_EQ(outcome.problem(), "");
  EXPECT_EQ(sgd.last->lr_scale, 0.5);
}

TEST(TakeStep, ReturnsWhatTheOptimizerTells) {
  tests::FakeModel model;
  *model.parameters()[0].gradient = std::nan("");
  tests::FakeSgd sgd{0.1};
  EXPECT_EQ(take_step(sgd, model, {}).problem(), "the gradient of w is not finite");
}

}  // namespace
}  // namespace seqtrain::train
