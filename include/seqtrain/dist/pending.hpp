#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include <seqtrain/core/error.hpp>
#include <seqtrain/dist/heartbeat.hpp>

namespace seqtrain::dist {

namespace detail {

/// The state that all operations of a group share.
struct Link {
  std::shared_ptr<Heartbeat> heartbeat;
  std::atomic<int> unfinished{0};  ///< operations that nobody has waited for yet
  std::atomic<bool> failed{false};
  /// `wait` of NCCL's operations blocks the device's stream and not this thread, so it comes last.
  bool polls = false;
};

/// A time limit that no operation reaches. `Pending::wait` detects lost ranks instead.
inline constexpr std::chrono::milliseconds endless = std::chrono::hours{24 * 365};

}  // namespace detail

/// An operation of a group that may still be running. Its tensors must not be used before `wait`
/// returns, or by the host alone if `order` was called.
class Pending {
 public:
  /// Makes an operation that is done.
  Pending() = default;

  Pending(c10::intrusive_ptr<::c10d::Work> work, std::shared_ptr<detail::Link> link)
      : work_{std::move(work)}, link_{std::move(link)} {
    ++link_->unfinished;
  }

  /// Makes later work of the device's current stream come after the operation if the connection can
  /// do so; `wait` still has to be called, later. Otherwise it is `wait`.
  void order() {
    if (!work_ || !link_->polls) return wait();
    try {
      work_->wait();
    } catch (const std::exception& error) {
      fail(error.what());
    }
  }

  /// Waits until the operation is done, without limit while the other ranks are alive. Throws
  /// `Error` that names the rank if one has ended or cannot be reached. After that the group cannot
  /// be used.
  void wait() {
    if (!work_) return;
    const auto work = std::exchange(work_, nullptr);
    while (!done(*work)) {
      const auto reason = link_->heartbeat->reason({}, slice);
      if (!reason.empty()) end(reason);
    }
    --link_->unfinished;
    link_->heartbeat->calm();
  }

 private:
  static constexpr std::chrono::milliseconds slice{1000};

  // Waits a short time and returns whether the operation is done.
  bool done(::c10d::Work& work) {
    const bool completed = work.isCompleted();
    std::string problem = "the operation was aborted";
    try {
      if (wait_for_moment(work)) return true;
    } catch (const std::exception& error) {
      problem = error.what();
    }
    // c10d also throws if the operation takes longer than this short time.
    if (completed) fail(problem);
    return false;
  }

  [[nodiscard]] bool wait_for_moment(::c10d::Work& work) const {
    const auto deadline = Clock::now() + slice;
    while (link_->polls && !work.isCompleted()) {
      if (Clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::microseconds{50});
    }
    return work.wait(slice);
  }

  [[noreturn]] void end(const std::string& reason) {
    link_->failed = true;
    link_->heartbeat->linger();
    throw Error{reason};
  }

  // Throws after a connection broke. The heartbeats soon show which rank is lost.
  [[noreturn]] void fail(const std::string& problem) {
    link_->failed = true;
    link_->heartbeat->hurry();
    for (int second = 0; second < 13; ++second) {
      const auto reason = link_->heartbeat->reason(std::chrono::milliseconds{1000});
      if (!reason.empty()) end(reason);
    }
    const auto text = "the connection to another rank broke: " + detail::first_line(problem);
    link_->heartbeat->tell(text);
    throw Error{text};
  }

  c10::intrusive_ptr<::c10d::Work> work_;
  std::shared_ptr<detail::Link> link_;
};

}  // namespace seqtrain::dist
