#pragma once

#include <cerrno>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <stdexcept>
#include <stop_token>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>

#include "support/simulation/disk.hpp"
#include "support/simulation/fibers.hpp"
#include "support/simulation/operation.hpp"

namespace seqtrain::tests::sim {

/// The moment at which a process dies, relative to the effect of a call. With `during` the effect
/// is a part of a write, and all or nothing for any other call.
enum class Moment { before, during, after };

/// The faults of a process. Calls are counted from 1.
struct Plan {
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t kill_at = never;  ///< the call in which it dies
  Moment moment = Moment::before;
  bool power_loss = false;        ///< its machine loses power at that moment
  std::uint64_t stop_at = never;  ///< the call before which it is asked to stop (SIGTERM)

  /// Calls from `first` to `last` fail with this probability: EIO, ENOSPC, or no answer.
  struct Errors {
    std::uint64_t first = 1;
    std::uint64_t last = never;
    double probability = 0;
  } errors = {};

  std::uint64_t most_calls = 1'000'000;  ///< a process with more calls counts as endless
};

/// The end of a process.
enum class End { running, returned, threw, killed };

/// One execution of a program on a machine. Every simulated call goes through `perform`, which
/// first lets other fibers run and then applies the plan's faults.
class Process final : public Disk::Tenant {
 public:
  Process(Fibers& fibers, Disk& disk, Plan plan = {})
      : fibers_{fibers}, disk_{disk}, plan_{plan}, id_{fibers.next_process()} {
    disk_.attach(*this);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  /// Kills the process if it is alive, and waits until its fibers have unwound.
  ~Process() {
    die();
    fibers_.run(family_);
  }

  /// Starts the program. The process ends when `program` returns or throws, even if other fibers
  /// still run.
  void start(std::function<void()> program) {
    spawn([this, program = std::move(program)] {
      if (alive()) run(program);
    });
  }

  /// Adds a thread to the process.
  void spawn(std::function<void()> task) { fibers_.spawn(std::move(task), family_); }

  /// Runs all fibers until those of this process have ended.
  void run_to_end() { fibers_.run(family_); }

  /// Acts as SIGKILL does: the kernel keeps what was written and frees the locks.
  void die() override {
    if (family_.dead) return;
    family_.dead = true;
    if (end_ == End::running) end_ = End::killed;
    disk_.detach(*this);
    for (const auto& task : on_end_) task();
  }

  /// Ends the process with an exception that nobody catches.
  void crash(std::exception_ptr error) {
    if (family_.dead) return;
    error_ = std::move(error);
    end_ = End::threw;
    die();
  }

  /// Makes a call: `effect()` changes the world and returns the result. If the call fails or its
  /// process dies during it, `part()` replaces `effect()`.
  template <class Effect, class Part>
  std::invoke_result_t<Effect> perform(Operation operation, std::string_view object,
                                       const Effect& effect, const Part& part) {
    switch (next_fate(operation, object)) {
      case Fate::happens:
        return effect();
      case Fate::fails:
        attempt(part);
        fail_call(operation, object);
      case Fate::dies:
        if (plan_.moment == Moment::after) attempt(effect);
        if (plan_.moment == Moment::during) attempt(part);
        plan_.power_loss ? disk_.power_loss(random()) : die();
        fibers_.throw_if_dead();
        break;
      case Fate::nothing:
        break;
    }
    return std::invoke_result_t<Effect>();
  }
  template <class Effect>
  std::invoke_result_t<Effect> perform(Operation operation, std::string_view object,
                                       const Effect& effect) {
    return perform(operation, object, effect, [&] {
      if (random().chance(0.5)) effect();
    });
  }

  /// Lets other fibers run. Throws `Killed` if the process is dead, unless the fiber is unwinding.
  void yield() {
    if (++yields_ / 100 > plan_.most_calls) get_stuck();
    fibers_.yield();
  }

  /// Calls `task` when the process ends in any way.
  void on_end(std::function<void()> task) { on_end_.push_back(std::move(task)); }

  /// Calls `watcher` for every call that the process makes.
  void watch(std::function<void(Operation, std::string_view)> watcher) {
    watcher_ = std::move(watcher);
  }

  [[nodiscard]] int id() const { return id_; }
  [[nodiscard]] bool alive() const { return !family_.dead; }
  [[nodiscard]] bool ended() const { return family_.dead && family_.fibers == 0; }
  [[nodiscard]] End end() const { return end_; }
  /// Returns the exception that the program threw.
  [[nodiscard]] std::exception_ptr error() const { return error_; }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  [[nodiscard]] std::stop_token stop_token() const { return stop_.get_token(); }
  [[nodiscard]] Plan& plan() { return plan_; }
  [[nodiscard]] Disk& disk() const { return disk_; }
  [[nodiscard]] Fibers& fibers() const { return fibers_; }
  [[nodiscard]] Random& random() const { return fibers_.random(); }

 private:
  enum class Fate { happens, fails, dies, nothing };

  void run(const std::function<void()>& program) {
    try {
      program();
      if (alive()) end_ = End::returned;
    } catch (const Killed&) {
    } catch (...) {
      crash(std::current_exception());
    }
    die();
  }

  Fate next_fate(Operation operation, std::string_view object) {
    if (alive()) yield();
    if (!alive()) fibers_.throw_if_dead();
    if (!alive()) return Fate::nothing;
    ++calls_;
    if (watcher_) watcher_(operation, object);
    if (calls_ > plan_.most_calls) get_stuck();
    if (calls_ == plan_.stop_at) stop_.request_stop();
    if (calls_ == plan_.kill_at) return Fate::dies;
    const auto& errors = plan_.errors;
    const bool may_fail = calls_ >= errors.first && calls_ <= errors.last;
    return may_fail && random().chance(errors.probability) ? Fate::fails : Fate::happens;
  }

  template <class Effect>
  static void attempt(const Effect& effect) {
    try {
      effect();
    } catch (const Error&) {
    }
  }

  [[noreturn]] void fail_call(Operation operation, std::string_view object) {
    if (is_remote(operation)) throw Error{"cannot be reached", {.object = std::string{object}}};
    const bool full = needs_room(operation) && random().chance(0.5);
    fail(is_reading(operation) ? "cannot be read" : "cannot be written", full ? ENOSPC : EIO,
         object);
  }

  void get_stuck() {
    crash(std::make_exception_ptr(std::runtime_error{"the process does not come to its end"}));
    fibers_.throw_if_dead();
  }

  Fibers& fibers_;
  Disk& disk_;
  Plan plan_;
  int id_;
  Fibers::Family family_;
  End end_ = End::running;
  std::exception_ptr error_;
  std::stop_source stop_;
  std::vector<std::function<void()>> on_end_;
  std::function<void(Operation, std::string_view)> watcher_;
  std::uint64_t calls_ = 0;
  std::uint64_t yields_ = 0;
};

}  // namespace seqtrain::tests::sim
