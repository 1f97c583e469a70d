#pragma once

#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace seqtrain {

/// Threads that share short tasks many times a second. The caller is one of them. Only one thread
/// may call at a time.
class ThreadTeam {
 public:
  /// Starts `size` - 1 threads; the caller is one more member of the team. Throws
  /// `std::system_error` if the system refuses.
  explicit ThreadTeam(std::size_t size) {
    try {
      for (std::size_t worker = 1; worker < size; ++worker) {
        threads_.emplace_back([this, worker] { serve(worker); });
      }
    } catch (...) {
      stop();
      throw;
    }
  }

  ~ThreadTeam() { stop(); }

  [[nodiscard]] std::size_t size() const { return threads_.size() + 1; }

  /// Calls task(index, worker) for each index below `count` on any free thread, and waits for all.
  /// Throws the first exception of a task; tasks that have not begun by then are skipped.
  template <class Task>
  void run(std::size_t count, const Task& task) {
    assert(count <= left_in(~State{0}));
    body_ = &task;
    call_ = [](const void* body, std::size_t index, std::size_t worker) {
      (*static_cast<const Task*>(body))(index, worker);
    };
    count_ = static_cast<std::uint32_t>(count);
    unfinished_ = count_;
    next_round(count_);
    work(0);
    wait();
    if (auto error = std::exchange(error_, nullptr)) std::rethrow_exception(error);
  }

 private:
  using Call = void (*)(const void* body, std::size_t index, std::size_t worker);

  /// The state of a round: its number in the upper half, the number of its tasks that no thread has
  /// taken in the lower half. A thread that comes late finds no task, or one of a later round; no
  /// thread waits for it.
  using State = std::uint64_t;
  static constexpr State left_in(State state) { return state & 0xffffffff; }
  static constexpr State round_of(State state) { return state >> 32; }

  void next_round(std::uint32_t tasks) {
    {
      const std::lock_guard lock{mutex_};
      state_ = (round_of(state_) + 1) << 32 | tasks;
    }
    changed_.notify_all();
  }

  void serve(std::size_t worker) {
    for (State seen = 0;;) {
      const auto begun = [&] { return round_of(state_) != seen; };
      spin_until(begun);
      {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, begun);
        seen = round_of(state_);
        if (stopping_) return;
      }
      work(worker);
    }
  }

  void stop() {
    stopping_ = true;
    next_round(0);
    for (auto& thread : threads_) thread.join();
  }

  void work(std::size_t worker) {
    for (State state = state_; left_in(state) > 0;) {
      if (!state_.compare_exchange_weak(state, state - 1)) continue;
      try {
        call_(body_, count_ - left_in(state), worker);
      } catch (...) {
        keep_error();
      }
      finish(1);
      state = state_;
    }
  }

  /// Keeps the first exception and drops the tasks that have not begun.
  void keep_error() {
    {
      const std::lock_guard lock{mutex_};
      if (!error_) error_ = std::current_exception();
    }
    State state = state_;
    while (!state_.compare_exchange_weak(state, state - left_in(state))) {
    }
    if (left_in(state) > 0) finish(static_cast<std::uint32_t>(left_in(state)));
  }

  void finish(std::uint32_t tasks) {
    if (unfinished_.fetch_sub(tasks) != tasks) return;
    { const std::lock_guard lock{mutex_}; }  // the caller sleeps, or sees that all is done
    finished_.notify_one();
  }

  void wait() {
    const auto done = [this] { return unfinished_ == 0; };
    spin_until(done);
    if (done()) return;
    std::unique_lock lock{mutex_};
    finished_.wait(lock, done);
  }

  /// Spins for a while before the thread sleeps, because rounds follow each other closely. Other
  /// threads that want the core get it.
  template <class Condition>
  static void spin_until(const Condition& condition) {
    constexpr int turns = 20'000;
    constexpr int turns_between_yields = 256;
    for (int i = 1; i <= turns && !condition(); ++i) {
      pause();
      if (i % turns_between_yields == 0) std::this_thread::yield();
    }
  }

  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable finished_;
  std::atomic<State> state_ = 0;
  std::atomic<std::uint32_t> unfinished_ = 0;
  std::atomic<bool> stopping_ = false;
  std::uint32_t count_ = 0;
  const void* body_ = nullptr;
  Call call_ = nullptr;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace seqtrain
