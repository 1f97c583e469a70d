#include <cerrno>
#include <thread>

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <seqtrain/dist/group_connection.hpp>

namespace seqtrain::dist {
namespace {

/// Writes to a pipe that nobody reads, and returns the error.
int write_error() {
  int ends[2];
  if (::pipe(ends) != 0) return 0;
  ::close(ends[0]);
  const bool written = ::write(ends[1], "x", 1) == 1;
  const int error = written ? 0 : errno;
  ::close(ends[1]);
  return error;
}

bool is_blocked() {
  sigset_t mask;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  return ::sigismember(&mask, SIGPIPE) == 1;
}

TEST(BlockedSigpipe, LetsAWriteFailWithAnError) {
  {
    const BlockedSigpipe blocked;
    EXPECT_EQ(write_error(), EPIPE);
  }
  EXPECT_FALSE(is_blocked());
}

TEST(BlockedSigpipe, HoldsForThreadsThatStartMeanwhile) {
  int error = 0;
  std::jthread thread;
  {
    const BlockedSigpipe blocked;
    thread = std::jthread{[&](const std::stop_token& stop) {
      while (!stop.stop_requested()) std::this_thread::yield();
      error = write_error();
    }};
  }
  thread.request_stop();
  thread.join();
  EXPECT_EQ(error, EPIPE);
}

TEST(BlockedSigpipeDeathTest, IsOverWithTheObject) {
  { const BlockedSigpipe blocked; }
  EXPECT_EXIT((void)write_error(), testing::KilledBySignal(SIGPIPE), "");
}

}  // namespace
}  // namespace seqtrain::dist
