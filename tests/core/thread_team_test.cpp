#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/thread_team.hpp>

namespace seqtrain {
namespace {

TEST(ThreadTeam, DoesEachTaskOnce) {
  ThreadTeam team{4};
  EXPECT_EQ(team.size(), 4U);
  for (std::size_t count : {0U, 1U, 3U, 1000U}) {
    std::vector<int> done(count);
    team.run(count, [&](std::size_t i, std::size_t) { ++done[i]; });
    for (const int times : done) EXPECT_EQ(times, 1);
  }
}

TEST(ThreadTeam, GivesEachThreadAPlaceOfItsOwn) {
  ThreadTeam team{3};
  std::vector<std::atomic<int>> inside(3);
  std::atomic<bool> shared = false;
  team.run(2000, [&](std::size_t, std::size_t worker) {
    if (++inside.at(worker) > 1) shared = true;
    --inside[worker];
  });
  EXPECT_FALSE(shared);
}

TEST(ThreadTeam, WorksRoundAfterRound) {
  ThreadTeam team{2};
  std::vector<std::size_t> values(64, 0);
  for (int round = 0; round < 2000; ++round) {
    team.run(values.size(), [&](std::size_t i, std::size_t) { values[i] += i; });
  }
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], 2000 * i);
}

TEST(ThreadTeam, ThrowsWhatATaskThrew) {
  ThreadTeam team{3};
  const auto fail = [](std::size_t i, std::size_t) {
    if (i == 5) throw std::runtime_error{"five"};
  };
  EXPECT_THROW(team.run(10, fail), std::runtime_error);
  std::atomic<int> done = 0;
  team.run(10, [&](std::size_t, std::size_t) { ++done; });
  EXPECT_EQ(done, 10);
}

TEST(ThreadTeam, OfOneIsTheCaller) {
  ThreadTeam team{1};
  std::size_t sum = 0;
  team.run(5, [&](std::size_t i, std::size_t worker) { sum += i + worker; });
  EXPECT_EQ(sum, 10U);
}

}  // namespace
}  // namespace seqtrain
