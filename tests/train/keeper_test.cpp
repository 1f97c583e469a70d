#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/train/keeper.hpp>

namespace seqtrain::train {
namespace {

const std::function<void(const VisitTensors&)> nothing_visited = [](const VisitTensors&) {};

/// A keeper that returns a fit after a number of steps and counts the calls of `save`.
struct Counter {
  std::optional<SavedFit> restore(const Plan& plan) {
    return SavedFit{.state = {.position = {.step = plan.steps}}};
  }
  void save(Moment moment, const FitView& fit) {
    moments.push_back(moment);
    step = fit.state.position.step;
  }

  std::vector<Moment> moments = {};
  std::int64_t step = -1;
};

struct CounterWithAProblem : Counter {
  [[nodiscard]] const char* problem() const { return "the disk is full"; }
};

struct WithoutSave {
  std::optional<SavedFit> restore(const Plan&) { return {}; }
};

static_assert(Keeper<Counter> && Keeper<CounterWithAProblem>);
static_assert(!Keeper<WithoutSave> && !Keeper<const Counter> && !Keeper<int>);

TEST(KeeperRef, PassesOnToItsKeeper) {
  Counter counter;
  const KeeperRef keeper{counter};
  EXPECT_EQ(keeper.restore({.steps = 7})->state.position.step, 7);
  const State state{.position = {.step = 3}};
  keeper.save(Moment::step, {state, nothing_visited});
  keeper.save(Moment::end, {state, nothing_visited});
  EXPECT_EQ(counter.moments, (std::vector<Moment>{Moment::step, Moment::end}));
  EXPECT_EQ(counter.step, 3);
}

TEST(KeeperRef, SaysWhatTheKeeperCouldNotSave) {
  Counter well;
  CounterWithAProblem badly;
  EXPECT_EQ(KeeperRef{well}.problem(), "");
  EXPECT_EQ(KeeperRef{badly}.problem(), "the disk is full");
}

TEST(KeeperRef, KeepsNothingWhereItWasMadeOfNothing) {
  const KeeperRef nothing;
  EXPECT_FALSE(nothing.restore({}));
  const State state;
  EXPECT_NO_THROW(nothing.save(Moment::stop, {state, nothing_visited}));
  EXPECT_EQ(nothing.problem(), "");
}

}  // namespace
}  // namespace seqtrain::train
