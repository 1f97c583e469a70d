#include <chrono>
#include <cmath>

#include <gtest/gtest.h>

#include <seqtrain/report/pace.hpp>

#include "support/fake_clock.hpp"

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

}  // namespace
}  // namespace seqtrain::report
