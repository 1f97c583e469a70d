#include <chrono>
#include <functional>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/report/progress_bar.hpp>
#include <seqtrain/train/events.hpp>

#include "support/fake_clock.hpp"
#include "support/run_events.hpp"

namespace seqtrain::report {
namespace {

using namespace std::chrono_literals;
using tests::FakeClock;

static_assert(train::Observer<ProgressBar<>>);

struct ProgressBarTest : testing::Test {
  std::string drawn() {
    const std::string text = out.str();
    out.str("");
    return text;
  }

  const std::function<double()> loss = []() -> double {
    ADD_FAILURE() << "a bar has no use for the loss";
    return 0;
  };
  const metrics::ClassificationReport report = tests::some_report();
  std::ostringstream out;
  ProgressBar<FakeClock> bar{{.enabled = true}, out};
};

TEST_F(ProgressBarTest, FollowsTraining) {
  bar.on(train::FitBegin{});
  FakeClock::pass(500ms);
  bar.on(tests::step(1, 4, loss));
  EXPECT_EQ(drawn(), "");
  FakeClock::pass(500ms);
  bar.on(tests::step(2, 4, loss));
  EXPECT_EQ(drawn(),
            "\r\x1b[Ktrain  50% [########--------] 20.0 examples/s, 400 tokens/s, 0:01 left");
  bar.on(train::FitEnd{});
  EXPECT_EQ(drawn(), "\r\x1b[K");
}

TEST_F(ProgressBarTest, OfARunThatIsGoneOnWithTakesTheTimeOfItsOwnStepsOnly) {
  bar.on(train::FitBegin{.position = {.step = 2}});
  FakeClock::pass(2000ms);
  bar.on(tests::step(3, 5, loss));
  EXPECT_EQ(drawn(),
            "\r\x1b[Ktrain  60% [#########-------] 5.00 examples/s, 100 tokens/s, 0:04 left");
}

TEST_F(ProgressBarTest, FollowsEvaluationAndDoesNotCountItAsTraining) {
  bar.on(train::FitBegin{});
  FakeClock::pass(1000ms);
  bar.on(tests::step(1, 4, loss));
  drawn();
  FakeClock::pass(5000ms);
  bar.on(train::EvalStep{"dev", 1, 3, 16, 300});
  EXPECT_EQ(drawn(), "");  // the first batch starts the clock
  FakeClock::pass(2000ms);
  bar.on(train::EvalStep{"dev", 2, 3, 16, 300});
  EXPECT_EQ(drawn(),
            "\r\x1b[Kdev  50% [########--------] 8.00 examples/s, 150 tokens/s, 0:02 left");
  bar.on(train::EvalEnd{"dev", 1, 1, 7, report});
  EXPECT_EQ(drawn(), "\r\x1b[K");
  FakeClock::pass(1000ms);
  bar.on(tests::step(2, 4, loss));
  EXPECT_EQ(drawn(),
            "\r\x1b[Ktrain  50% [########--------] 10.0 examples/s, 200 tokens/s, 0:02 left");
}

}  // namespace
}  // namespace seqtrain::report
