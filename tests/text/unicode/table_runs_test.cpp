#include <string>

#include <gtest/gtest.h>

#include <seqtrain/text/unicode/unicode.hpp>

namespace seqtrain::text::unicode_tables {
namespace {

TEST(TableRuns, ReadsCodes) {
  constexpr std::int32_t runs[] = {'a', 2, 4, 1};
  std::u32string codes;
  for_each_code(runs, [&](char32_t code) { codes += code; });
  EXPECT_EQ(codes, U"abe");
}

TEST(TableRuns, ReadsPartsAsDistancesFromThoseBefore) {
  constexpr std::int32_t runs[] = {'A', 2, 1, 'a', 1, 5, 1, 2, 2, 'x'};
  std::u32string all;
  for_each_decomposition(runs, [&](char32_t code, std::span<const char32_t> parts) {
    all += code;
    all.append(parts.begin(), parts.end());
  });
  EXPECT_EQ(all, U"AaBbFdx");
}

}  // namespace
}  // namespace seqtrain::text::unicode_tables
