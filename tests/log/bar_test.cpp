#include <chrono>
#include <cmath>
#include <sstream>

#include <gtest/gtest.h>

#include <seqtrain/log/bar.hpp>

#include "support/fake_clock.hpp"

namespace seqtrain::log {
namespace {

using namespace std::chrono_literals;
using tests::FakeClock;

TEST(ProgressLine, CountsWhatHasNoKnownEnd) {
  EXPECT_EQ(progress_line({.name = "predict",
                           .done = 15200,
                           .seconds = 30,
                           .rates = {{.per_second = 507, .unit = "examples/s"}}}),
            "predict 15.2k done, 507 examples/s");
}

TEST(ProgressLine, TellsShareRatesAndTimeLeft) {
  EXPECT_EQ(progress_line({.name = "train",
                           .done = 123,
                           .total = 293,
                           .seconds = 24.6,
                           .rates = {{521, "examples/s"}, {15234, "tokens/s"}}}),
            "train  41% [######----------] 521 examples/s, 15.2k tokens/s, 0:34 left");
}

TEST(ProgressLine, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(progress_line({.name = "dev", .done = 0, .total = 9, .rates = {{std::nan(""), "x"}}}),
            "dev   0% [----------------]");
  EXPECT_EQ(progress_line({.name = "dev", .done = 15'200, .total = 0}), "dev 15.2k done");
  EXPECT_EQ(progress_line({.name = "dev", .done = 9, .total = 3, .seconds = 5}),
            "dev 100% [################] 0:00 left");
}

struct BarTest : testing::Test {
  std::ostringstream out;
  Progress half{.name = "x", .done = 1, .total = 2, .seconds = 1};
};

TEST_F(BarTest, AppearsAfterASecondAndIsWipedAtTheEnd) {
  {
    Bar<FakeClock> bar{{.enabled = true}, out};
    bar.draw({.name = "x", .done = 1, .total = 2, .seconds = 0.99});
    EXPECT_EQ(out.str(), "");
    bar.draw(half);
    EXPECT_EQ(out.str(), "\r\x1b[Kx  50% [########--------] 0:01 left");
    out.str("");
  }
  EXPECT_EQ(out.str(), "\r\x1b[K");
}

TEST_F(BarTest, IsDrawnTenTimesASecondAtMost) {
  Bar<FakeClock> bar{{.enabled = true}, out};
  bar.draw(half);
  out.str("");
  FakeClock::pass(99ms);
  bar.draw(half);
  EXPECT_EQ(out.str(), "");
  FakeClock::pass(1ms);
  bar.draw(half);
  EXPECT_NE(out.str(), "");
}

TEST_F(BarTest, SaysNothingWhereItIsNotEnabled) {
  {
    Bar<FakeClock> bar{{.enabled = false}, out};
    bar.draw(half);
    ByteBar<FakeClock> bytes{"encode", {.enabled = false}, out};
    FakeClock::pass(5000ms);
    bytes(1, 2);
  }
  EXPECT_EQ(out.str(), "");
}

TEST_F(BarTest, OfBytes) {
  ByteBar<FakeClock> bar{"encode", {.enabled = true}, out};
  FakeClock::pass(500ms);
  bar(50'000'000, 400'000'000);
  EXPECT_EQ(out.str(), "");
  FakeClock::pass(1500ms);
  bar(100'000'000, 400'000'000);
  EXPECT_EQ(out.str(), "\r\x1b[Kencode  25% [####------------] 50.0M bytes/s, 0:06 left");
}

}  // namespace
}  // namespace seqtrain::log
