#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/kernels/rotary.hpp>

namespace seqtrain::kernels {
namespace {

std::vector<float> sine_waves(std::size_t count) {
  std::vector<float> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = std::sin(static_cast<float>(i));
  return result;
}

/// Heads of sizes that fill vectors and of one that does not.
TEST(Rotary, RotatesPairsByTheirPosition) {
  for (const std::size_t size : {2UL, 12UL, 32UL, 64UL}) {
    constexpr std::size_t rows = 9, heads = 3;
    const std::size_t ld_x = heads * size + 5;
    RotaryAngles angles{10'000, size};
    angles.reserve(4);
    angles.reserve(rows);
    const auto x = sine_waves(rows * ld_x);
    auto rotated = x;
    angles.rotate(rotated.data(), ld_x, rows, heads, 1);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t i = 0; i < heads * size; ++i) {
        const std::size_t pair = i % size % (size / 2);
        const double angle =
            static_cast<double>(row) *
            std::pow(10'000, -2 * static_cast<double>(pair) / static_cast<double>(size));
        const bool is_first = i % size < size / 2;
        const double other = x[row * ld_x + (is_first ? i + size / 2 : i - size / 2)];
        const double expected =
            x[row * ld_x + i] * std::cos(angle) + (is_first ? -other : other) * std::sin(angle);
        EXPECT_NEAR(rotated[row * ld_x + i], expected, 2e-6) << size;
      }
    }
    angles.rotate(rotated.data(), ld_x, rows, heads, -1);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(rotated[i], x[i], 1e-6);
  }
}

TEST(Rotary, TakesAnglesAndAMagnitude) {
  constexpr std::size_t rows = 3, size = 4;
  RotaryAngles angles{{1, 0.25F}, 1.5, size};
  angles.reserve(rows);
  auto x = sine_waves(rows * size);
  const auto before = x;
  angles.rotate(x.data(), size, rows, 1, 1);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t pair = 0; pair < 2; ++pair) {
      const double angle = static_cast<double>(row) * (pair == 0 ? 1 : 0.25);
      const double a = before[row * size + pair], b = before[row * size + pair + 2];
      EXPECT_NEAR(x[row * size + pair], 1.5 * (a * std::cos(angle) - b * std::sin(angle)), 1e-6);
      EXPECT_NEAR(x[row * size + pair + 2], 1.5 * (b * std::cos(angle) + a * std::sin(angle)),
                  1e-6);
    }
  }
}

TEST(Rotary, PairsNeighbours) {
  constexpr std::size_t rows = 4, heads = 2, size = 12, ld = heads * size;
  RotaryAngles halves{100, size}, neighbours{100, size};
  neighbours.pair_neighbours();
  halves.reserve(rows);
  neighbours.reserve(rows);
  const auto x = sine_waves(rows * ld);
  auto y = x;
  neighbours.rotate(y.data(), ld, rows, heads, 1);
  const auto place = [](std::size_t row, std::size_t head, std::size_t i) {
    return row * ld + head * size + i % 2 * size / 2 + i / 2;  // of number i among halves
  };
  auto expected = x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    expected[place(i / ld, i % ld / size, i % size)] = x[i];
  }
  halves.rotate(expected.data(), ld, rows, heads, 1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(y[i], expected[place(i / ld, i % ld / size, i % size)], 1e-6) << i;
  }
  neighbours.rotate(y.data(), ld, rows, heads, -1);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], x[i], 1e-6);
}

TEST(Rotary, LeavesTheRestOfAHeadAsItIs) {
  constexpr std::size_t rows = 5, heads = 2, size = 32, columns = 48;
  RotaryAngles part{100, size, columns}, whole{100, size};
  part.reserve(rows);
  whole.reserve(rows);
  const auto x = sine_waves(rows * heads * columns);
  auto y = x;
  part.rotate(y.data(), heads * columns, rows, heads, 1);
  for (std::size_t head = 0; head < heads; ++head) {
    auto expected = x;
    whole.rotate(expected.data() + head * columns, heads * columns, rows, 1, 1);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t i = 0; i < columns; ++i) {
        const std::size_t at = (row * heads + head) * columns + i;
        EXPECT_EQ(y[at], expected[at]) << row << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace seqtrain::kernels
