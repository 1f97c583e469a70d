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

}  // namespace
}  // namespace seqtrain::report
