#include <cstddef>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include <boost/crc.hpp>
#include <gtest/gtest.h>

#include <seqtrain/weights/crc32.hpp>

namespace seqtrain::weights {
namespace {

TEST(Crc32, HasTheCheckValueOfItsCatalogueEntry) {
  constexpr std::string_view digits = "123456789";
  EXPECT_EQ(crc32(std::as_bytes(std::span{digits})), 0xcbf43926u);
  EXPECT_EQ(crc32({}), 0u);
}

TEST(Crc32, AgreesWithBoostAtEveryLengthAndAddress) {
  std::mt19937 random{1};
  std::vector<std::byte> bytes(300);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  for (std::size_t begin = 0; begin < 9; ++begin) {
    for (std::size_t size = 0; begin + size <= bytes.size(); ++size) {
      boost::crc_32_type expected;
      expected.process_bytes(bytes.data() + begin, size);
      ASSERT_EQ(crc32(std::span{bytes}.subspan(begin, size)), expected.checksum());
    }
  }
}

}  // namespace
}  // namespace seqtrain::weights
