#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/weights/strided.hpp>

namespace seqtrain::weights {
namespace {

constexpr auto most = std::numeric_limits<std::int64_t>::max();

TEST(Strided, ExtentIsOneBehindTheLastElement) {
  EXPECT_EQ(extent({.offset = 3, .shape = {}, .strides = {}}), 4);
  EXPECT_EQ(extent({.offset = 1, .shape = {2, 3}, .strides = {3, 1}}), 7);
  EXPECT_EQ(extent({.shape = {4, 1000}, .strides = {6, 0}}), 19);
  EXPECT_EQ(extent({.offset = 9, .shape = {5, 0}, .strides = {1, 1}}), 0);
  EXPECT_EQ(extent({.shape = {1}, .strides = {most}}), 1);
}

TEST(Strided, WhatIsNoLayoutHasNoExtent) {
  EXPECT_FALSE(extent({.offset = -1}));
  EXPECT_FALSE(extent({.shape = {2}, .strides = {}}));
  EXPECT_FALSE(extent({.shape = {2}, .strides = {-1}}));
  EXPECT_FALSE(extent({.shape = {-2}, .strides = {1}}));
  EXPECT_FALSE(extent({.shape = {3}, .strides = {most / 2 + 1}}));
  EXPECT_FALSE(extent({.offset = most, .shape = {2}, .strides = {1}}));
  EXPECT_FALSE(extent({.shape = {most, most}, .strides = {1, 1}}));
}

TEST(Strided, KnowsWhatIsContiguous) {
  EXPECT_TRUE(contiguous({.shape = {}, .strides = {}}));
  EXPECT_TRUE(contiguous({.offset = 5, .shape = {2, 3}, .strides = {3, 1}}));
  EXPECT_TRUE(contiguous({.shape = {2, 1, 3}, .strides = {3, 77, 1}}));
  EXPECT_TRUE(contiguous({.shape = {0, most, most}, .strides = {1, most, 1}}));
  EXPECT_FALSE(contiguous({.shape = {3, 2}, .strides = {1, 3}}));
  EXPECT_FALSE(contiguous({.shape = {2}, .strides = {0}}));
}

std::vector<std::uint16_t> gathered(const Strided& layout, std::size_t count) {
  std::vector<std::uint16_t> storage(24);
  for (std::size_t i = 0; i < storage.size(); ++i) storage[i] = static_cast<std::uint16_t>(i);
  std::vector<std::uint16_t> out(count);
  gather(std::as_bytes(std::span{storage}), layout, 2, std::as_writable_bytes(std::span{out}));
  return out;
}

TEST(Strided, GathersRowByRow) {
  using Numbers = std::vector<std::uint16_t>;
  EXPECT_EQ(gathered({.offset = 1, .shape = {3, 2}, .strides = {1, 6}}, 6),
            (Numbers{1, 7, 2, 8, 3, 9}));
  EXPECT_EQ(gathered({.shape = {2, 3}, .strides = {6, 0}}, 6), (Numbers{0, 0, 0, 6, 6, 6}));
  EXPECT_EQ(gathered({.shape = {2, 2, 2}, .strides = {12, 1, 4}}, 8),
            (Numbers{0, 4, 1, 5, 12, 16, 13, 17}));
  EXPECT_EQ(gathered({.offset = 7, .shape = {1}, .strides = {most}}, 1), Numbers{7});
}

}  // namespace
}  // namespace seqtrain::weights
