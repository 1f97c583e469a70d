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

}  // namespace
}  // namespace seqtrain::text
