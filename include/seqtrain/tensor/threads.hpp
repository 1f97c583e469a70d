#pragma once

#include <cstddef>
#include <memory>

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/thread_team.hpp>

namespace seqtrain::tensor {

/// Sets the number of threads of torch's operators on the processor, for the whole process. Results
/// are equal from run to run with the same number. Throws `InputError` if it is below 1, and
/// `std::system_error` if the system refuses so many.
inline void set_threads(int threads) {
  if (threads < 1) throw InputError{"must be at least 1", {.object = "threads"}};
  // Operators and tasks have threads of their own. If OpenMP cannot start its threads, it ends the
  // program, so the system is asked before.
  const ThreadTeam trial{2 * static_cast<std::size_t>(threads) - 1};
  at::set_num_threads(threads);
}

/// Returns the number of threads that operators use.
[[nodiscard]] inline int threads() {
  return at::get_num_threads();
}

/// While this object exists, torch's operators run on the calling thread alone. Use it for small
/// work beside `for_each_task`: OpenMP's threads stay awake for milliseconds after each operator
/// and take cores that the tasks need.
class OneThread {
 public:
  OneThread() { at::set_num_threads(1); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  ~OneThread() { at::set_num_threads(before_); }

 private:
  int before_ = threads();
};

/// Returns the number of threads that share tasks, which is that of operators.
[[nodiscard]] inline std::size_t workers() {
  return static_cast<std::size_t>(at::get_num_threads());
}

namespace detail {

/// Returns the calling thread's team, which has as many threads as torch uses. All tasks share it,
/// because idle threads of a second team would stay awake and take cores from the first.
inline ThreadTeam& team() {
  thread_local std::unique_ptr<ThreadTeam> team;
  if (!team || team->size() != workers()) team = std::make_unique<ThreadTeam>(workers());
  return *team;
}

}  // namespace detail

/// Calls task(index, worker) for each index below `count`, on as many threads as torch uses. Any
/// free thread takes the next index. The result of a task must not depend on `worker`, which only
/// selects scratch memory. A task must not start tasks itself. The threads belong to the calling
/// thread and are kept.
template <class Task>
void for_each_task(std::size_t count, const Task& task) {
  detail::team().run(count, task);
}

/// Calls task(index) as `for_each_task` does. Tasks may use torch's operators, without gradients;
/// each runs on its own thread alone.
template <class Task>
void for_each_operator_task(std::size_t count, const Task& task) {
  ThreadTeam& team = detail::team();
  const OneThread one_thread;
  team.run(count, [&](std::size_t index, std::size_t) {
    const at::NoGradGuard no_gradients;
    task(index);
  });
}

}  // namespace seqtrain::tensor
