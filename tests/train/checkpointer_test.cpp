#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/train/checkpointer.hpp>

namespace seqtrain::train {
namespace {

const std::function<void(const VisitTensors&)> nothing_visited = [](const VisitTensors&) {};

/// A checkpointer that returns a fit after a number of steps and counts the calls of `save`.
struct Counter {
  std::optional<SavedFit> restore(const FitPlan& plan) {
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
  std::optional<SavedFit> restore(const FitPlan&) { return {}; }
};

static_assert(Checkpointer<Counter> && Checkpointer<CounterWithAProblem>);
static_assert(!Checkpointer<WithoutSave> && !Checkpointer<const Counter> && !Checkpointer<int>);

TEST(CheckpointerRef, PassesOnToItsCheckpointer) {
  Counter counter;
  const CheckpointerRef checkpointer{counter};
  EXPECT_EQ(checkpointer.restore({.steps = 7})->state.position.step, 7);
  const State state{.position = {.step = 3}};
  checkpointer.save(Moment::step, {state, nothing_visited});
  checkpointer.save(Moment::end, {state, nothing_visited});
  EXPECT_EQ(counter.moments, (std::vector<Moment>{Moment::step, Moment::end}));
  EXPECT_EQ(counter.step, 3);
}

TEST(CheckpointerRef, SaysWhatTheCheckpointerCouldNotSave) {
  Counter well;
  CounterWithAProblem badly;
  EXPECT_EQ(CheckpointerRef{well}.problem(), "");
  EXPECT_EQ(CheckpointerRef{badly}.problem(), "the disk is full");
}

TEST(CheckpointerRef, KeepsNothingWhereItWasMadeOfNothing) {
  const CheckpointerRef nothing;
  EXPECT_FALSE(nothing.restore({}));
  const State state;
  EXPECT_NO_THROW(nothing.save(Moment::stop, {state, nothing_visited}));
  EXPECT_EQ(nothing.problem(), "");
}

}  // namespace
}  // namespace seqtrain::train
