#include <array>
#include <atomic>
#include <cstddef>
#include <stdexcept>

#include <gtest/gtest.h>

#include <seqtrain/core/run_parallel.hpp>

namespace seqtrain::tests {
namespace {

TEST(RunParallel, CallsEachOnce) {
  std::array<std::atomic<int>, 100> calls{};
  run_parallel(4, calls.size(), [&](std::size_t i) { ++calls[i]; });
  for (const auto& count : calls) EXPECT_EQ(count, 1);
}

TEST(RunParallel, ThrowsTheFirstExceptionAndStartsNoMore) {
  std::atomic<int> calls = 0;
  const auto task = [&](std::size_t i) {
    ++calls;
    if (i == 2) throw std::runtime_error{"two"};
  };
  EXPECT_THROW(run_parallel(1, 100, task), std::runtime_error);
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace seqtrain::tests
