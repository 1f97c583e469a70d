#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/report/pace.hpp>
#include <seqtrain/train/events.hpp>

#include "support/fake_clock.hpp"
#include "support/run_events.hpp"

namespace seqtrain::report {
namespace {

using namespace std::chrono_literals;
using tests::FakeClock;

TEST(Pace, CountsOnlyTheTimeOfWork) {
  Pace<FakeClock> pace;
  EXPECT_TRUE(std::isnan(pace.tokens_per_second()));
  FakeClock::pass(2000ms);
  pace.add(10, 400);
  FakeClock::pass(60'000ms);
  pace.rest();
  FakeClock::pass(3000ms);
  pace.add(10, 600);
  EXPECT_DOUBLE_EQ(pace.seconds(), 5);
  EXPECT_DOUBLE_EQ(pace.examples_per_second(), 4);
  EXPECT_DOUBLE_EQ(pace.tokens_per_second(), 200);
}

using namespace std::chrono_literals;
using tests::FakeClock;

static_assert(train::Observer<Throughput<>>);

void take_steps(Throughput<FakeClock>& throughput, int count, std::chrono::milliseconds each) {
  for (int i = 0; i < count; ++i) {
    FakeClock::pass(each);
    throughput.on(tests::step(i + 1, 100, tests::no_loss));
  }
}

TEST(Throughput, LeavesTheFirstStepsAndEvaluationsOut) {
  Throughput<FakeClock> throughput;
  const auto report = tests::some_report();
  throughput.on(train::FitBegin{});
  take_steps(throughput, 5, 9000ms);
  take_steps(throughput, 10, 100ms);
  FakeClock::pass(60'000ms);
  throughput.on(train::EvalEnd{"dev", 1, 15, 60, report});
  take_steps(throughput, 10, 300ms);
  throughput.on(train::FitEnd{25, 109});
  FakeClock::pass(7000ms);
  throughput.on(train::EvalEnd{"test", 1, 25, 7, report});
  const auto figures = throughput.figures();
  EXPECT_DOUBLE_EQ(figures.examples_per_second, 200 / 4.0);
  EXPECT_DOUBLE_EQ(figures.tokens_per_second, 4000 / 4.0);
  EXPECT_EQ(figures.seconds, 109);
  EXPECT_EQ(figures.steps, 25);
}

TEST(Throughput, CountsTheStepsOfARunThatIsGoneOnWith) {
  Throughput<FakeClock> throughput;
  throughput.on(train::FitBegin{.position = {.step = 90}});
  take_steps(throughput, 10, 100ms);
  throughput.on(train::FitEnd{.step = 100});
  EXPECT_EQ(throughput.figures().steps, 100);
  EXPECT_DOUBLE_EQ(throughput.figures().examples_per_second, 100);
}

TEST(Throughput, HasNoRateForAFitOfFewSteps) {
  Throughput<FakeClock> throughput;
  throughput.on(train::FitBegin{});
  take_steps(throughput, 5, 100ms);
  throughput.on(train::FitEnd{.step = 5});
  EXPECT_TRUE(std::isnan(throughput.figures().examples_per_second));
  EXPECT_EQ(throughput.figures().steps, 5);
}

TEST(Throughput, BeginsAnewWithEachFit) {
  Throughput<FakeClock> throughput;
  take_steps(throughput, 20, 100ms);
  throughput.on(train::FitBegin{});
  take_steps(throughput, 6, 1000ms);
  EXPECT_DOUBLE_EQ(throughput.figures().examples_per_second, 10);
}

/// Returns the batches at which a line is due in an epoch whose steps take `window` batches each.
std::vector<std::int64_t> due(Cadence& cadence, std::int64_t batches, std::int64_t window,
                              std::int64_t epoch = 1) {
  std::vector<std::int64_t> result;
  for (std::int64_t batch = 0; batch < batches;) {
    batch = std::min(batches, batch + window);
    auto event = tests::step(batch, batches, tests::no_loss);
    event.epoch = epoch;
    event.steps = 1'000;
    if (cadence.due(event)) result.push_back(batch);
  }
  return result;
}

using Batches = std::vector<std::int64_t>;

TEST(Cadence, FirstEachAfterItAndLast) {
  Cadence cadence{50};
  EXPECT_EQ(due(cadence, 123, 1), (Batches{1, 51, 101, 123}));
  EXPECT_EQ(due(cadence, 100, 1, 2), (Batches{1, 51, 100}));
  EXPECT_EQ(due(cadence, 101, 1, 3), (Batches{1, 51, 101}));
  EXPECT_EQ(due(cadence, 1, 1, 4), (Batches{1}));
}

TEST(Cadence, EachWhereEveryIsOne) {
  Cadence cadence{1};
  EXPECT_EQ(due(cadence, 4, 1), (Batches{1, 2, 3, 4}));
}

TEST(Cadence, ARunThatIsResumedGoesOnWithTheSameBatches) {
  for (std::int64_t done = 1; done < 12; ++done) {
    Cadence whole{5};
    Cadence resumed{5};
    resumed.start_at({.epoch = 1, .batch = done, .step = 100});
    for (std::int64_t batch = 1; batch <= 12; ++batch) {
      auto event = tests::step(batch, 12, tests::no_loss);
      event.epoch = 2;
      event.steps = 1'000;
      const bool due = whole.due(event);
      if (batch > done) {
        EXPECT_EQ(resumed.due(event), due) << done << " " << batch;
      }
    }
  }
}

TEST(Cadence, StepsOfSeveralBatchesPassTheMark) {
  Cadence cadence{10};
  EXPECT_EQ(due(cadence, 34, 4), (Batches{4, 12, 24, 32, 34}));
  EXPECT_EQ(due(cadence, 30, 20, 2), (Batches{20, 30}));
}

TEST(Cadence, TheLastStepOfARunThatEndsInAnEpoch) {
  Cadence cadence{100};
  auto event = tests::step(1, 293, tests::no_loss);
  event.steps = 3;
  EXPECT_TRUE(cadence.due(event));
  event.step = event.batch = 2;
  EXPECT_FALSE(cadence.due(event));
  event.step = event.batch = 3;
  EXPECT_TRUE(cadence.due(event));
}

TEST(Cadence, RefusesToComeNever) {
  EXPECT_THROW(Cadence{0}, InputError);
  EXPECT_THROW(Cadence{-5}, InputError);
}

}  // namespace
}  // namespace seqtrain::report
