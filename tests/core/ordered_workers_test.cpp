#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/ordered_workers.hpp>

namespace seqtrain {
namespace {

class OrderedWorkersAt : public testing::TestWithParam<std::size_t> {
 protected:
  static std::vector<std::size_t> slots() { return std::vector<std::size_t>(GetParam() + 3); }
};

TEST_P(OrderedWorkersAt, HandItemsOutInOrder) {
  OrderedWorkers<std::size_t> workers{5, 505, GetParam(), slots(),
                                      [](std::size_t index, std::size_t, std::size_t& item) {
                                        if (index % 7 == 0) std::this_thread::yield();
                                        item = index * index;
                                      }};
  for (std::size_t i = 5; i < 505; ++i) {
    const auto* item = workers.next();
    ASSERT_NE(item, nullptr);
    ASSERT_EQ(*item, i * i);
  }
  EXPECT_EQ(workers.next(), nullptr);
  EXPECT_EQ(workers.next(), nullptr);
}

TEST_P(OrderedWorkersAt, AreARangeOfTheItemsThatAreLeft) {
  OrderedWorkers<std::size_t> workers{
      0, 20, GetParam(), slots(),
      [](std::size_t index, std::size_t, std::size_t& item) { item = index; }};
  static_assert(std::ranges::input_range<decltype(workers)>);
  workers.next();
  std::size_t expected = 1;
  for (const std::size_t item : workers) ASSERT_EQ(item, expected++);
  EXPECT_EQ(expected, 20U);
  for (const std::size_t item : workers) FAIL() << item;
}

TEST_P(OrderedWorkersAt, ThrowInTheItemsTurn) {
  OrderedWorkers<std::size_t> workers{0, 100, GetParam(), slots(),
                                      [](std::size_t index, std::size_t, std::size_t& item) {
                                        if (index >= 10)
                                          throw std::out_of_range{"at " + std::to_string(index)};
                                        item = index;
                                      }};
  for (std::size_t i = 0; i < 10; ++i) ASSERT_EQ(*workers.next(), i);
  for (int again = 0; again < 2; ++again) {
    try {
      workers.next();
      FAIL() << "nothing thrown";
    } catch (const std::out_of_range& error) {
      EXPECT_STREQ(error.what(), "at 10");
    }
  }
}

TEST_P(OrderedWorkersAt, StopEarly) {
  for (std::size_t taken = 0; taken < 20; ++taken) {
    OrderedWorkers<std::size_t> workers{
        0, 1'000'000, GetParam(), slots(),
        [](std::size_t index, std::size_t, std::size_t& item) { item = index; }};
    for (std::size_t i = 0; i < taken; ++i) ASSERT_EQ(*workers.next(), i);
  }
}

TEST_P(OrderedWorkersAt, NeverRunFurtherAheadThanThereAreSlots) {
  std::atomic<std::size_t> made = 0;
  OrderedWorkers<std::size_t> workers{0, 300, GetParam(), slots(),
                                      [&](std::size_t, std::size_t worker, std::size_t&) {
                                        EXPECT_LT(worker, std::max<std::size_t>(GetParam(), 1));
                                        ++made;
                                      }};
  for (std::size_t taken = 1; workers.next() != nullptr; ++taken) {
    ASSERT_LE(made, taken - 1 + slots().size());
  }
  EXPECT_EQ(made, 300u);
}

TEST_P(OrderedWorkersAt, MayHaveNothingToDo) {
  OrderedWorkers<std::size_t> workers{3, 3, GetParam(), slots(),
                                      [](std::size_t, std::size_t, std::size_t&) { FAIL(); }};
  EXPECT_EQ(workers.next(), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Threads, OrderedWorkersAt, testing::Values(0, 1, 2, 7));

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
}  // namespace seqtrain
