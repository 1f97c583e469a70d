#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/unicode/unicode.hpp>

namespace seqtrain::text::unicode_tables {
namespace {

TEST(TableRuns, ReadsNumbersOfAnySize) {
  EXPECT_EQ(numbers_of("ACDeggB/////f8//jC"),
            (std::vector<std::int32_t>{0, 1, -1, 15, 512, -536870911, 1114110}));
}

TEST(TableRuns, ReadsCodes) {
  std::u32string codes;
  for_each_code("iGEIC", [&](char32_t code) { codes += code; });
  EXPECT_EQ(codes, U"abe");
}

TEST(TableRuns, ReadsPartsAsDistancesFromThoseBefore) {
  std::u32string all;
  for_each_decomposition("iEECiGCKCEEwH", [&](char32_t code, std::span<const char32_t> parts) {
    all += code;
    all.append(parts.begin(), parts.end());
  });
  EXPECT_EQ(all, U"AaBbFdx");
}

}  // namespace
}  // namespace seqtrain::text::unicode_tables
