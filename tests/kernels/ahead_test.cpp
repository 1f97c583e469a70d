#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/kernels/ahead.hpp>

namespace seqtrain::kernels {
namespace {

/// Returns how often each line is fetched, by its place, in so many steps.
std::map<std::ptrdiff_t, int> fetched(const Ahead& ahead, std::size_t steps) {
  std::map<std::ptrdiff_t, int> counts;
  Fetching fetching{ahead, steps};
  for (std::size_t i = 0; i < steps; ++i) {
    fetching.step([&](const std::byte* line) { ++counts[line - ahead.from]; });
  }
  return counts;
}

TEST(Fetching, FetchesEachLineOnceInTheGivenSteps) {
  const std::vector<float> numbers(40 * 100);
  for (const std::size_t rows : {1U, 2U, 7U, 40U}) {
    for (const std::size_t columns : {16U, 32U, 96U}) {
      std::map<std::ptrdiff_t, int> expected;
      for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t i = 0; i < columns; i += 16) {
          expected[static_cast<std::ptrdiff_t>((row * 100 + i) * sizeof(float))] = 1;
        }
      }
      for (const std::size_t steps : {1U, 2U, 3U, 64U, 1'000U}) {
        EXPECT_EQ(fetched(Ahead::of(numbers.data(), rows, columns, 100), steps), expected)
            << rows << ' ' << columns << ' ' << steps;
      }
    }
  }
}

TEST(Fetching, SharesTheLinesAmongTheSteps) {
  const std::vector<float> numbers(16 * 100);
  Fetching fetching{Ahead::of(numbers.data(), numbers.size()), 30};
  for (int left = 100, step = 0; step < 30; ++step) {
    int lines = 0;
    fetching.step([&](const std::byte*) { ++lines; });
    EXPECT_EQ(lines, std::min(left, 4)) << step;
    left -= lines;
  }
}

TEST(Fetching, FetchesNothingIfNothingIsAhead) {
  EXPECT_TRUE(fetched({}, 10).empty());
}

}  // namespace
}  // namespace seqtrain::kernels
