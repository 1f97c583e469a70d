#pragma once

#include <pthread.h>
#include <signal.h>

namespace seqtrain::dist {

/// Blocks SIGPIPE on this thread as long as the object lives. A thread that this one starts
/// meanwhile never receives the signal. Gloo writes to sockets with writev(), which raises SIGPIPE
/// if the other rank has closed the connection: the process would end without an error. Python
/// ignores SIGPIPE, a C++ program does not.
class BlockedSigpipe {
 public:
  BlockedSigpipe() {
    ::sigemptyset(&sigpipe_);
    ::sigaddset(&sigpipe_, SIGPIPE);
    was_pending_ = pending();
    ::pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  BlockedSigpipe(const BlockedSigpipe&) = delete;
  BlockedSigpipe& operator=(const BlockedSigpipe&) = delete;

  ~BlockedSigpipe() {
    // A signal that has come meanwhile would be delivered now.
    constexpr timespec no_time{};
    if (!was_pending_ && pending()) ::sigtimedwait(&sigpipe_, nullptr, &no_time);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  static bool pending() {
    sigset_t signals;
    ::sigpending(&signals);
    return ::sigismember(&signals, SIGPIPE) == 1;
  }

  sigset_t sigpipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

}  // namespace seqtrain::dist
