#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "support/simulation/fiber.hpp"
#include "support/simulation/random.hpp"

namespace seqtrain::tests::sim {

/// Thrown through a fiber whose process has died. It is not a `std::exception`, so code that
/// handles errors does not catch it.
struct Killed {};

/// Runs functions on fibers, one at a time, and chooses at random at every `yield` which one
/// continues. The time is virtual.
class Fibers {
 public:
  /// Fibers that die together.
  struct Family {
    bool dead = false;
    std::size_t fibers = 0;  ///< number of fibers that have not ended yet
  };

  explicit Fibers(Random& random) : random_{random} {}
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;
  /// Ends the remaining fibers: each throws `Killed` at its current place.
  ~Fibers() {
    everyone_.dead = true;
    while (!ready_.empty()) pass();
  }

  /// Adds a fiber, which begins at some later `yield`. `Killed` ends it silently.
  void spawn(std::function<void()> task) { spawn(std::move(task), everyone_); }
  void spawn(std::function<void()> task, Family& family) {
    Worker& worker = idle_worker();
    worker.task = std::move(task);
    worker.family = &family;
    worker.owner = this;
    ++family.fibers;
    ready_.push_back(&worker);
  }

  /// Lets any fiber continue. Throws what `throw_if_dead` throws.
  void yield() {
    throw_if_dead();
    pass();
    throw_if_dead();
  }

  /// Throws `Killed` in a fiber whose family has died, unless the fiber is unwinding.
  void throw_if_dead() {
    if (running_ == nullptr || !(running_->family->dead || everyone_.dead)) return;
    if (std::uncaught_exceptions() > 0) return;
    if (++thrown_ > 1'000'000) give_up();
    throw Killed{};
  }

  /// Lets any fiber continue and never throws.
  void pass() {
    clock_ += std::chrono::microseconds{10};
    if (ready_.empty()) return;
    Worker& next = *ready_[random_.below(ready_.size())];
    if (&next != running_) jump(&next);
  }

  /// Runs until all fibers have ended. Throws the exception of a fiber that belongs to no process.
  void run() {
    while (!ready_.empty()) pass();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

  /// Runs until all fibers of a family have ended. Others stay where they are.
  void run(const Family& family) {
    while (family.fibers > 0) pass();
  }

  [[nodiscard]] Random& random() { return random_; }

  /// Returns the virtual time since the simulation began.
  [[nodiscard]] std::chrono::nanoseconds now() const { return clock_; }
  void advance_to(std::chrono::nanoseconds time) { clock_ = std::max(clock_, time); }

  /// Returns a new number for a process of this simulation, from 1 on.
  int next_process() { return ++processes_; }

 private:
  struct Worker {
    Fiber fiber{[this](Fiber&) { work(*this); }};
    std::function<void()> task = {};
    Family* family = nullptr;
    Fibers* owner = nullptr;
  };

  [[noreturn]] static void work(Worker& worker) {
    while (true) worker.owner->work_once(worker);
  }

  void work_once(Worker& worker) {
    try {
      worker.task();
    } catch (const Killed&) {
    } catch (...) {
      error_ = std::current_exception();
    }
    worker.task = nullptr;
    --worker.family->fibers;
    std::erase(ready_, &worker);
    pool().idle.push_back(&worker);
    jump(nullptr);
  }

  /// Continues a fiber, or the caller of `run`.
  void jump(Worker* next) {
    Fiber& from = running_ == nullptr ? home_ : running_->fiber;
    running_ = next;
    Fiber::jump(from, next == nullptr ? home_ : next->fiber);
  }

  [[noreturn]] static void give_up() {
    std::fputs("A loop of the simulated program swallows sim::Killed for ever.\n", stderr);
    std::abort();
  }

  /// Fibers outlive a simulation, because it is costly to make them.
  struct Pool {
    std::vector<std::unique_ptr<Worker>> all;
    std::vector<Worker*> idle;
  };
  static Pool& pool() {
    static Pool pool;
    return pool;
  }
  static Worker& idle_worker() {
    if (pool().idle.empty()) {
      pool().all.push_back(std::make_unique<Worker>());
      return *pool().all.back();
    }
    Worker& worker = *pool().idle.back();
    pool().idle.pop_back();
    return worker;
  }

  Random& random_;
  Fiber home_;
  Family everyone_;
  std::vector<Worker*> ready_;
  Worker* running_ = nullptr;
  std::exception_ptr error_;
  std::chrono::nanoseconds clock_{0};
  std::size_t thrown_ = 0;
  int processes_ = 0;
};

}  // namespace seqtrain::tests::sim
