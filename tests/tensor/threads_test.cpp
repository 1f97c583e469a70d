#include <array>
#include <atomic>
#include <cstddef>
#include <thread>

#include <gtest/gtest.h>

#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::tensor {
namespace {

TEST(Threads, AreAsManyAsAskedFor) {
  const int before = threads();
  set_threads(1);
  EXPECT_EQ(threads(), 1);
  set_threads(before);
  EXPECT_EQ(threads(), before);
}

TEST(Threads, RefuseLessThanOne) {
  EXPECT_THROW(set_threads(0), InputError);
  EXPECT_THROW(set_threads(-1), InputError);
}

TEST(Threads, AreOneWhileThatIsAskedFor) {
  const int before = threads();
  set_threads(3);
  {
    const OneThread alone;
    EXPECT_EQ(threads(), 1);
  }
  EXPECT_EQ(threads(), 3);
  set_threads(before);
}

/// Returns the threads of two tasks, neither of which ends before both have begun. Each `kind` is a
/// task type of its own.
template <int kind>
std::array<std::thread::id, 2> threads_of_two_tasks() {
  std::array<std::thread::id, 2> threads;
  std::atomic<int> begun = 0;
  for_each_task(2, [&](std::size_t, std::size_t worker) {
    threads.at(worker) = std::this_thread::get_id();
    for (++begun; begun < 2;) std::this_thread::yield();
  });
  return threads;
}

TEST(Parallel, KeepsItsThreadsForAllKindsOfTasks) {
  const int before = threads();
  set_threads(2);
  const auto first = threads_of_two_tasks<1>();
  EXPECT_EQ(first[0], std::this_thread::get_id());
  EXPECT_NE(first[1], first[0]);
  EXPECT_EQ(threads_of_two_tasks<2>(), first);
  set_threads(before);
}

TEST(Parallel, OperatorsOfATaskRunOnItsOwnThreadWithoutGradients) {
  const int before = threads();
  set_threads(3);
  std::array<int, 8> counts{};
  std::array<bool, 8> gradients{};
  for_each_operator_task(counts.size(), [&](std::size_t i) {
    counts.at(i) = threads();
    gradients.at(i) = at::GradMode::is_enabled();
  });
  EXPECT_EQ(counts, (std::array<int, 8>{1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(gradients, (std::array<bool, 8>{}));
  EXPECT_TRUE(at::GradMode::is_enabled());
  EXPECT_EQ(threads(), 3);
  set_threads(before);
}

TEST(Parallel, HasAsManyWorkersAsTorchHasThreads) {
  const int before = threads();
  for (const int count : {1, 3}) {
    set_threads(count);
    EXPECT_EQ(workers(), static_cast<std::size_t>(count));
    std::atomic<std::size_t> tasks = 0;
    std::atomic<bool> beyond = false;
    for_each_task(100, [&, most = workers()](std::size_t, std::size_t worker) {
      ++tasks;
      if (worker >= most) beyond = true;
    });
    EXPECT_EQ(tasks, 100U);
    EXPECT_FALSE(beyond);
  }
  set_threads(before);
}

}  // namespace
}  // namespace seqtrain::tensor
