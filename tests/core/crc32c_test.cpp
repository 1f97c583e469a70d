#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/crc32c.hpp>

namespace seqtrain {
namespace {

std::vector<std::byte> random_bytes(std::size_t size) {
  std::mt19937 random{7};
  std::vector<std::byte> bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random() & 0xff);
  return bytes;
}

TEST(Crc32c, GivesTheAnswersOfTheStandard) {
  EXPECT_EQ(Crc32c{}.value(), 0u);
  EXPECT_EQ(Crc32c{}.update("123456789").value(), 0xe3069283u);
  std::vector<std::byte> block(32);
  EXPECT_EQ(Crc32c{}.update(block).value(), 0x8a9136aau);
  for (auto& byte : block) byte = std::byte{0xff};
  EXPECT_EQ(Crc32c{}.update(block).value(), 0x62a8ab43u);
  for (std::size_t i = 0; i < 32; ++i) block[i] = static_cast<std::byte>(i);
  EXPECT_EQ(Crc32c{}.update(block).value(), 0x46dd794eu);
}

TEST(Crc32c, IsTheSameByTableAndByInstruction) {
  const auto bytes = random_bytes(40'000);
  for (const std::size_t size : {0, 1, 7, 8, 9, 6143, 6144, 6145, 12'289, 39'990}) {
    for (std::size_t start = 0; start < 9; ++start) {
      const auto part = std::span{bytes}.subspan(start, size);
      EXPECT_EQ(Crc32c{}.update(part).value(),
                ~detail::crc32c::by_table(~std::uint32_t{0}, part.data(), part.size()));
    }
  }
}

TEST(Crc32c, HasEightHexadecimalDigits) {
  EXPECT_EQ(Crc32c{}.hex(), "00000000");
  EXPECT_EQ(Crc32c{0xe306}.hex(), "0000e306");
  EXPECT_EQ(Crc32c{}.update("123456789").hex(), "e3069283");
}

TEST(Crc32c, GrowsPieceByPiece) {
  const auto bytes = random_bytes(20'000);
  const auto whole = Crc32c{}.update(bytes);
  for (const std::size_t cut : {0, 1, 13, 6144, 19'999, 20'000}) {
    const auto head = std::span{bytes}.first(cut), tail = std::span{bytes}.subspan(cut);
    EXPECT_EQ(Crc32c{}.update(head).update(tail), whole);
    EXPECT_EQ(Crc32c{}.update(head).append(Crc32c{}.update(tail), tail.size()), whole);
  }
}

}  // namespace
}  // namespace seqtrain
