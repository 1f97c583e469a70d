#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace seqtrain {

/// Runs one task at a time on a thread of its own. A task must not throw.
class Background {
 public:
  /// Ends the task's pauses and waits for the task to end.
  ~Background() {
    stop();
    if (thread_.joinable()) thread_.join();
  }

  /// Waits until the previous task has ended, then runs this one.
  void start(std::function<void()> task) {
    if (thread_.joinable()) thread_.join();
    busy_ = true;
    thread_ = std::thread{[this, task = std::move(task)] {
      task();
      const std::lock_guard lock{mutex_};
      busy_ = false;
      changed_.notify_all();
    }};
  }

  [[nodiscard]] bool busy() const {
    const std::lock_guard lock{mutex_};
    return busy_;
  }

  /// Waits until no task runs.
  void wait() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return !busy_; });
  }

  /// Sleeps until the time is over or another thread calls `hurry` or `stop`. Returns false after
  /// `stop`. The task calls it.
  bool pause(std::chrono::milliseconds time) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, time, [this] { return hurry_ || stop_; });
    hurry_ = false;
    return !stop_;
  }

  /// Ends the task's current pause, or its next one if it is not in a pause.
  void hurry() {
    const std::lock_guard lock{mutex_};
    hurry_ = true;
    changed_.notify_all();
  }

  /// Ends the current pause and all later ones.
  void stop() {
    const std::lock_guard lock{mutex_};
    stop_ = true;
    changed_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool busy_ = false;
  bool hurry_ = false;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace seqtrain
