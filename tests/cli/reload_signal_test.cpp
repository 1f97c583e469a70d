#include <atomic>
#include <csignal>
#include <thread>

#include <gtest/gtest.h>

#include <seqtrain/cli/reload_signal.hpp>

namespace seqtrain::cli {
namespace {

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
