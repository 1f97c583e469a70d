#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <stdexcept>
#include <utility>

#include "support/simulation/process.hpp"

namespace seqtrain::tests::sim {

/// The simulated `seqtrain::Background`: runs one task at a time on another fiber of the process.
class Background {
 public:
  explicit Background(Process& process) : process_{process} {}
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background() {
    stop();
    while (running_) process_.fibers().pass();
  }

  /// Starts `task`. The previous one must have ended.
  void start(std::function<void()> task) {
    process_.fibers().throw_if_dead();
    if (!process_.alive()) return;
    if (running_) throw std::logic_error{"the task before has not ended"};
    running_ = true;
    hurried_ = false;
    process_.spawn([this, task = std::move(task)]() mutable {
      if (process_.alive()) run(task);
      task = nullptr;
      running_ = false;
    });
  }

  /// Lets other fibers run, then returns whether the task still runs.
  bool busy() {
    process_.yield();
    return running_;
  }

  void wait() {
    while (running_) process_.yield();
  }

  /// Sleeps, and is called by the task. Returns false after a call of `stop`.
  bool pause(std::chrono::milliseconds duration) {
    auto& fibers = process_.fibers();
    const auto end = fibers.now() + duration;
    for (auto left = 1 + process_.random().below(8); left > 0 && is_patient(); --left) {
      process_.yield();
    }
    if (is_patient()) fibers.advance_to(end);
    hurried_ = false;
    return !stopped_;
  }

  /// Ends a pause early.
  void hurry() { hurried_ = true; }

  /// Ends a pause. All later pauses return false.
  void stop() { stopped_ = true; }

 private:
  [[nodiscard]] bool is_patient() const { return !stopped_ && !hurried_; }

  /// Ends the process if an exception leaves a thread.
  void run(const std::function<void()>& task) {
    try {
      task();
    } catch (const Killed&) {
    } catch (...) {
      process_.crash(std::current_exception());
    }
  }

  Process& process_;
  bool running_ = false;
  bool hurried_ = false;
  bool stopped_ = false;
};

/// A clock that shows the virtual time.
class Clock {
 public:
  explicit Clock(const Fibers& fibers) : fibers_{&fibers} {}

  [[nodiscard]] std::chrono::steady_clock::time_point now() const {
    return std::chrono::steady_clock::time_point{
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(fibers_->now())};
  }

 private:
  const Fibers* fibers_;
};

}  // namespace seqtrain::tests::sim
