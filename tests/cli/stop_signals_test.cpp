#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stop_token>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include <seqtrain/cli/stop_signals.hpp>

namespace seqtrain::cli {
namespace {

void wait_for(const std::stop_token& token) {
  while (!token.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
}

TEST(StopSignals, TheFirstOneRequestsAStop) {
  for (const int number : {SIGTERM, SIGINT}) {
    const StopSignals signals{{}};
    EXPECT_FALSE(signals.token().stop_requested());
    std::raise(number);
    wait_for(signals.token());
  }
}

TEST(StopSignals, LeavesTheSignalsAsTheyWere) {
  const auto before = std::signal(SIGTERM, SIG_IGN);
  { const StopSignals signals{{}}; }
  EXPECT_EQ(std::signal(SIGTERM, before), SIG_IGN);
}

TEST(StopSignalsDeathTest, TheSecondOneEndsAtOnce) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        const StopSignals signals{{}};
        std::raise(SIGTERM);
        wait_for(signals.token());
        std::raise(SIGTERM);
        std::abort();
      },
      testing::ExitedWithCode(128 + SIGTERM), "");
}

[[noreturn]] void outlive_the_grace() {
  StopSignalsOptions options{.grace_seconds = 0.01};
  options.log = [](std::string_view text) {
    const std::string line = std::string{text} + "\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  };
  options.unfinished = [] { return std::string{"all is lost"}; };
  const StopSignals signals{options};
  std::raise(SIGINT);
  std::this_thread::sleep_for(std::chrono::seconds{30});
  std::abort();
}

TEST(StopSignalsDeathTest, TheGraceHasAnEnd) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(outlive_the_grace(), testing::ExitedWithCode(1),
              "SIGINT.*\nThe grace time is over. all is lost");
}

/// Logs more than a pipe that nobody reads takes, then goes on after a signal.
[[noreturn]] void outlive_the_grace_with_a_stuck_reader() {
  int ends[2];
  // ThreadSanitizer writes what the C library holds for stdout when the program ends.
  if (std::fflush(stdout) != 0 || ::pipe(ends) != 0) std::abort();
  ::dup2(ends[1], STDOUT_FILENO);
  std::exit(run([](log::Log& log) {
    const StopSignals signals{{.grace_seconds = 0.01, .log = log.warnings()}};
    for (int i = 0; i < 3000; ++i) log.info(std::string(100, 'x'));
    std::raise(SIGTERM);
    std::this_thread::sleep_for(std::chrono::seconds{30});
  }));
}

TEST(StopSignalsDeathTest, TheGraceHasAnEndThoughNobodyReadsTheLog) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(outlive_the_grace_with_a_stuck_reader(), testing::ExitedWithCode(1), "");
}

TEST(ReloadSignal, CallsForEachHangUp) {
  std::atomic<int> calls = 0;
  const ReloadSignal signal{[&] { ++calls; }};
  for (int i = 1; i <= 3; ++i) {
    std::raise(SIGHUP);
    while (calls < i) std::this_thread::yield();
  }
}

TEST(ReloadSignal, LeavesTheSignalAsItWas) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  {
    const ReloadSignal signal{[] {}};
  }
  EXPECT_EQ(std::signal(SIGHUP, before), SIG_DFL);  // Boost.Asio restores the default
}

}  // namespace
}  // namespace seqtrain::cli
