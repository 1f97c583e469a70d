#include <array>
#include <bit>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/pre_tokenizers/bit_positions.hpp>

namespace seqtrain::text {
namespace {

TEST(BitPositions, AreThoseOfTheBits) {
  std::uint64_t bits = 1;
  for (int i = 0; i < 200; ++i, bits = bits * 0x9E3779B97F4A7C15u + static_cast<unsigned>(i)) {
    std::vector<std::uint16_t> expected;
    for (std::uint16_t bit = 0; bit < 64; ++bit) {
      if (bits >> bit & 1) expected.push_back(static_cast<std::uint16_t>(128 + bit));
    }
    std::array<std::uint16_t, 64 + 16> room{};
    std::uint16_t* const end = write_positions(bits, 128, room.data());
    EXPECT_EQ((std::vector<std::uint16_t>{room.data(), end}), expected);
    EXPECT_EQ(count_bits(bits), static_cast<std::size_t>(std::popcount(bits)));
  }
}

TEST(BitPositions, OfNoneAndOfAll) {
  std::array<std::uint16_t, 64 + 16> room{};
  EXPECT_EQ(write_positions(0, 0, room.data()), room.data());
  EXPECT_EQ(write_positions(~std::uint64_t{0}, 0, room.data()), room.data() + 64);
  EXPECT_EQ(room[63], 63);
}

TEST(BitPositions, OfManyBlocksAreThoseOfEach) {
  std::array<std::uint64_t, 32> blocks{};
  for (std::uint64_t bits = 1; auto& block : blocks) {
    block = bits = bits * 0x9E3779B97F4A7C15u + 1;
    if (bits % 5 == 0) block = 0;
    if (bits % 7 == 0) block = ~std::uint64_t{0};
  }
  for (std::size_t count = 0; count <= blocks.size(); ++count) {
    std::array<std::uint16_t, 64 * 32 + 32> room{};
    std::array<std::uint16_t, 64 * 32 + 32> expected{};
    std::uint16_t* end = expected.data();
    for (std::size_t i = 0; i < count; ++i) end = write_positions(blocks[i], 64 * i, end);
    std::uint16_t* const last = write_all_positions(blocks.data(), count, room.data());
    EXPECT_EQ((std::vector<std::uint16_t>{room.data(), last}),
              (std::vector<std::uint16_t>{expected.data(), end}));
  }
}

}  // namespace
}  // namespace seqtrain::text
