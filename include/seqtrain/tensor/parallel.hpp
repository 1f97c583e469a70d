#pragma once

#include <cstddef>
#include <memory>

#include <ATen/Parallel.h>

#include <seqtrain/core/thread_team.hpp>

namespace seqtrain::tensor {

[[nodiscard]] inline std::size_t workers() {
  return static_cast<std::size_t>(at::get_num_threads());
}

namespace detail {

/// The calling thread's team, of as many threads as torch uses. One for all kinds of tasks: of
/// several the threads that have just worked, awake still, would keep others from the cores.
inline ThreadTeam& team() {
  thread_local std::unique_ptr<ThreadTeam> team;
  if (!team || team->size() != workers()) team = std::make_unique<ThreadTeam>(workers());
  return *team;
}

}  // namespace detail

/// Calls task(index, worker) for each index below `count`, on as many threads as torch uses,
/// whichever is free. A task's outcome must not depend on its worker, which only says whose scratch
/// memory is free, and must not share out tasks itself. The threads belong to the calling thread
/// and are kept.
template <class Task>
void for_each_task(std::size_t count, const Task& task) {
  detail::team().run(count, task);
}

}  // namespace seqtrain::tensor
