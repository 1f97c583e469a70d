#include <array>

#include <gtest/gtest.h>

#include <seqtrain/core/hex.hpp>

namespace seqtrain {
namespace {

TEST(Hex, HasTwoDigitsForAByte) {
  EXPECT_EQ(hex(std::array<unsigned char, 4>{0x00, 0x0f, 0xa5, 0xff}), "000fa5ff");
  EXPECT_EQ(hex({}), "");
}

}  // namespace
}  // namespace seqtrain
