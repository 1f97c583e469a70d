#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/kernels/dropout.hpp>

namespace seqtrain::kernels {
namespace {

std::vector<float> factors(const HashDropout& dropout, std::uint32_t first, std::size_t count) {
  std::vector<float> result(count);
  using Floats = Width<4>::Floats;
  for (std::size_t i = 0; i < count; i += width_of<Floats>) {
    Floats ones = Floats{} + 1;
    dropout.apply(first + static_cast<std::uint32_t>(i), ones);
    store(result.data() + i, ones);
  }
  return result;
}

TEST(HashDropout, KeepsEverythingByDefault) {
  for (const float factor : factors({}, 5, 4096)) EXPECT_EQ(factor, 1.0F);
}

TEST(HashDropout, DropsWithItsProbabilityAndScalesTheRest) {
  constexpr std::size_t count = 1 << 20;
  for (const double probability : {0.1, 0.5}) {
    std::size_t dropped = 0;
    for (const float factor : factors({0x123456789abcdefULL, probability}, 0, count)) {
      if (factor == 0) {
        ++dropped;
      } else {
        EXPECT_FLOAT_EQ(factor, static_cast<float>(1 / (1 - probability)));
      }
    }
    const double deviation = std::sqrt(count * probability * (1 - probability));
    EXPECT_NEAR(static_cast<double>(dropped), count * probability, 5 * deviation);
  }
}

TEST(HashDropout, IsAFunctionOfTheIndex) {
  const HashDropout dropout{42, 0.3};
  const auto all = factors(dropout, 0, 256);
  const auto part = factors(dropout, 37, 64);
  for (std::size_t i = 0; i < part.size(); ++i) EXPECT_EQ(part[i], all[37 + i]);
}

TEST(HashDropout, IsTheSameInVectorsOfAnyWidth) {
  const HashDropout dropout{42, 0.3};
  const auto expected = factors(dropout, 37, lanes);
  Width<8>::Floats eight = Width<8>::Floats{} + 1;
  dropout.apply(37, eight);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(eight[i], expected[i]);
  Width<16>::Floats sixteen = Width<16>::Floats{} + 1;
  dropout.apply(37, sixteen);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(sixteen[i], expected[i]);
}

/// Two sites, and neighbours of one site, agree as often as independent coins do.
TEST(HashDropout, SitesAndNeighboursAreIndependent) {
  constexpr std::size_t count = 1 << 18;
  const auto one = factors({1, 0.5}, 0, count);
  for (const std::uint64_t site : {std::uint64_t{2}, std::uint64_t{1} << 32}) {
    const auto other = factors({1 + site, 0.5}, 0, count);
    std::size_t equal = 0;
    for (std::size_t i = 0; i < count; ++i) equal += one[i] == other[i] ? 1 : 0;
    EXPECT_NEAR(static_cast<double>(equal), count / 2.0, 5 * std::sqrt(count / 4.0));
  }
  for (const std::size_t distance : {1UL, 384UL, 1024UL}) {
    std::size_t equal = 0;
    for (std::size_t i = distance; i < count; ++i) equal += one[i] == one[i - distance] ? 1 : 0;
    const auto pairs = static_cast<double>(count - distance);
    EXPECT_NEAR(static_cast<double>(equal), pairs / 2, 5 * std::sqrt(pairs / 4));
  }
}

TEST(HashDropout, DropsABlock) {
  const HashDropout dropout{42, 0.3};
  const auto expected = factors(dropout, 37, 64);
  std::vector<float> x(64, 3), y(64, 1);
  drop(x.data(), 32, dropout, 37, 32, y.data(), 32, 2, 32);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], 3 * expected[i]);
  // Adds to the first half of each row.
  drop<true>(x.data(), 32, dropout, 37, 32, y.data(), 32, 2, 16);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(y[i], (i % 32 < 16 ? 6 : 3) * expected[i]) << i;
  }
}

}  // namespace
}  // namespace seqtrain::kernels
