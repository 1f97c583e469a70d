#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/random.hpp>

namespace seqtrain::random {
namespace {

TEST(Random, IsTheSameEverywhere) {
  // SplitMix64 seeded with 0 begins with this word.
  static_assert(scramble(0x9E3779B97F4A7C15u) == 0xE220A8397B1DCDAFu);
  static_assert(mix(1u, 2u) != mix(2u, 1u));
  static_assert(mix(0u) != mix(0u, 0u));
  Stream stream{1234, Purpose::order, 3u};
  const Stream same{1234, Purpose::order, 3u};
  EXPECT_EQ(stream.next(), same.at(0));
  EXPECT_EQ(stream.next(), same.at(1));
}

TEST(Random, StreamsDoNotMeet) {
  std::set<std::uint64_t> words;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    for (const auto purpose : {Purpose::order, Purpose::dropout}) {
      for (std::uint64_t epoch = 0; epoch < 5; ++epoch) {
        const Stream stream{seed, purpose, epoch};
        for (std::uint64_t i = 0; i < 100; ++i) words.insert(stream.at(i));
      }
    }
  }
  EXPECT_EQ(words.size(), 3u * 2 * 5 * 100);
}

TEST(Random, EveryBitIsSetHalfOfTheTime) {
  std::array<int, 64> set{};
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    for (std::size_t bit = 0; bit < 64; ++bit) set[bit] += mix(7, i) >> bit & 1 ? 1 : 0;
  }
  for (const int count : set) EXPECT_NEAR(count, 5000, 300);  // six standard deviations
}

TEST(Random, NeighbouringCountersShareHalfOfTheirBits) {
  int differing = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) differing += std::popcount(mix(7, i) ^ mix(7, i + 1));
  EXPECT_NEAR(differing / 10'000.0, 32, 0.25);
}

TEST(Random, UniformNumbersFillTheUnitInterval) {
  Stream stream{5, Purpose::data};
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double number = stream.uniform();
    ASSERT_TRUE(number >= 0 && number < 1);
    sum += number;
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 0.006);
  EXPECT_LT(to_double(~0ull), 1.0);
  EXPECT_LT(to_float(~0ull), 1.0F);
  EXPECT_EQ(to_float(0), 0.0F);
}

TEST(Random, BoundedIntegersAreEquallyLikely) {
  Stream stream{6, Purpose::data};
  std::array<int, 6> counts{};
  for (int i = 0; i < 60'000; ++i) ++counts.at(stream.below(6));
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 550);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(stream.below(1), 0u);
  const std::uint64_t huge = (std::uint64_t{1} << 63) + 1;  // half of the words are thrown away
  for (int i = 0; i < 100; ++i) EXPECT_LT(stream.below(huge), huge);
}

TEST(Random, ShufflesReachEveryOrderEquallyOften) {
  std::array<int, 6> counts{};
  for (std::uint64_t i = 0; i < 6000; ++i) {
    std::array<int, 3> order{0, 1, 2};
    Stream stream{8, Purpose::order, i};
    shuffle(order, stream);
    ++counts.at(static_cast<std::size_t>(order[0] * 2 + (order[1] > order[2] ? 1 : 0)));
  }
  for (const int count : counts) EXPECT_NEAR(count, 1000, 175);
}

TEST(Random, ShuffleKeepsEveryElement) {
  std::vector<int> items(1000);
  std::iota(items.begin(), items.end(), 0);
  auto shuffled = items;
  Stream stream{9, Purpose::order};
  shuffle(shuffled, stream);
  EXPECT_NE(shuffled, items);
  std::ranges::sort(shuffled);
  EXPECT_EQ(shuffled, items);
}

}  // namespace
}  // namespace seqtrain::random
