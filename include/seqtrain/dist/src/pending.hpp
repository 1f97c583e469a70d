#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <torch/csrc/distributed/c10d/Work.hpp>

#include <seqtrain/core/error.hpp>
#include <seqtrain/dist/heartbeat.hpp>
#include <seqtrain/dist/link.hpp>
#include <seqtrain/dist/pending.hpp>
#include <seqtrain/dist/store.hpp>

namespace seqtrain::dist {
namespace detail {

/// The time after which a wait for an operation looks whether the other ranks are alive.
inline constexpr std::chrono::milliseconds slice{1000};

[[noreturn]] inline void end(Link& link, const std::string& reason) {
  link.failed = true;
  link.heartbeat->linger();
  throw Error{reason};
}

/// Throws after a connection broke. The heartbeats soon show which rank is lost.
[[noreturn]] inline void fail(Link& link, const std::string& problem) {
  link.failed = true;
  link.heartbeat->hurry();
  for (int second = 0; second < 13; ++second) {
    const auto reason = link.heartbeat->reason(std::chrono::milliseconds{1000});
    if (!reason.empty()) end(link, reason);
  }
  const auto text = "the connection to another rank broke: " + first_line(problem);
  link.heartbeat->tell(text);
  throw Error{text};
}

[[nodiscard]] inline bool wait_for_moment(const Link& link, ::c10d::Work& work) {
  const auto deadline = Clock::now() + slice;
  while (link.polls && !work.isCompleted()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::microseconds{50});
  }
  return work.wait(slice);
}

/// Waits a short time and returns whether the operation is done.
inline bool done(Link& link, ::c10d::Work& work) {
  const bool completed = work.isCompleted();
  std::string problem = "the operation was aborted";
  try {
    if (wait_for_moment(link, work)) return true;
  } catch (const std::exception& error) {
    problem = error.what();
  }
  // c10d also throws if the operation takes longer than this short time.
  if (completed) fail(link, problem);
  return false;
}

}  // namespace detail

SEQTRAIN_SEPARATE Pending::Pending() = default;

SEQTRAIN_SEPARATE Pending::Pending(WorkPtr work, std::shared_ptr<detail::Link> link)
    : work_{std::move(work)}, link_{std::move(link)} {
  ++link_->unfinished;
}

SEQTRAIN_SEPARATE Pending::Pending(Pending&&) noexcept = default;
SEQTRAIN_SEPARATE Pending& Pending::operator=(Pending&&) noexcept = default;
SEQTRAIN_SEPARATE Pending::~Pending() = default;

SEQTRAIN_SEPARATE void Pending::order() {
  if (!work_ || !link_->polls) return wait();
  try {
    work_->wait();
  } catch (const std::exception& error) {
    detail::fail(*link_, error.what());
  }
}

SEQTRAIN_SEPARATE void Pending::wait() {
  if (!work_) return;
  const auto work = std::exchange(work_, nullptr);
  while (!detail::done(*link_, *work)) {
    const auto reason = link_->heartbeat->reason({}, detail::slice);
    if (!reason.empty()) detail::end(*link_, reason);
  }
  --link_->unfinished;
  link_->heartbeat->calm();
}

}  // namespace seqtrain::dist
