#pragma once

#include <atomic>
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
  /// Starts `size` - 1 threads; the caller is the last one. Throws `std::system_error` if the
  /// system refuses.
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

  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  ~ThreadTeam() { stop(); }

  [[nodiscard]] std::size_t size() const { return threads_.size() + 1; }

  /// Calls task(index, worker) for each index below `count` on any thread that is free, and waits
  /// for all. Throws the first exception of a task; tasks that have not begun by then are left out.
  template <class Task>
  void run(std::size_t count, const Task& task) {
    const auto call = [](const void* body, std::size_t index, std::size_t worker) {
      (*static_cast<const Task*>(body))(index, worker);
    };
    next_ = 0;
    {
      const std::lock_guard lock{mutex_};
      count_ = count;
      body_ = &task;
      call_ = call;
      busy_ = threads_.size();
      ++round_;
    }
    changed_.notify_all();
    work(0);
    wait();
    if (auto error = std::exchange(error_, nullptr)) std::rethrow_exception(error);
  }

 private:
  using Call = void (*)(const void* body, std::size_t index, std::size_t worker);

  /// Turns that a thread waits awake before it sleeps, because rounds follow each other closely.
  static constexpr int spins = 20'000;

  void serve(std::size_t worker) {
    for (std::uint64_t seen = 0;;) {
      for (int i = 0; i < spins && round_ == seen; ++i) pause();
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [&] { return round_ != seen; });
      seen = round_;
      if (stopping_) return;
      lock.unlock();
      work(worker);
      lock.lock();
      if (--busy_ == 0) finished_.notify_one();
    }
  }

  void stop() {
    {
      const std::lock_guard lock{mutex_};
      stopping_ = true;
      ++round_;
    }
    changed_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

  void work(std::size_t worker) {
    try {
      for (std::size_t i = next_++; i < count_; i = next_++) call_(body_, i, worker);
    } catch (...) {
      const std::lock_guard lock{mutex_};
      if (!error_) error_ = std::current_exception();
      next_ = count_;
    }
  }

  void wait() {
    for (int i = 0; i < spins && busy_ != 0; ++i) pause();
    std::unique_lock lock{mutex_};
    finished_.wait(lock, [this] { return busy_ == 0; });
  }

  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable finished_;
  std::atomic<std::uint64_t> round_ = 0;
  std::atomic<std::size_t> busy_ = 0;
  std::atomic<std::size_t> next_ = 0;
  std::size_t count_ = 0;
  const void* body_ = nullptr;
  Call call_ = nullptr;
  std::exception_ptr error_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace seqtrain
