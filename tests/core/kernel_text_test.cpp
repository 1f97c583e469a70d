#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/kernel_text.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain::kernel_text {
namespace {

using Words = std::vector<std::string_view>;

TEST(KernelText, ReadsTheStartOfAFile) {
  const tests::TemporaryDirectory directory;
  EXPECT_EQ(read_start(tests::write_file(directory / "short", "a\n")), "a\n");
  const std::string large(100'000, 'x');
  EXPECT_EQ(read_start(tests::write_file(directory / "large", large)).size(), 65536U);
  EXPECT_EQ(read_start(directory / "absent"), "");
  EXPECT_EQ(read_start(directory.path()), "");
}

TEST(KernelText, SplitsTextIntoWords) {
  EXPECT_EQ(words("  a b\t\nc\n"), (Words{"a", "b", "c"}));
  EXPECT_EQ(words("a b\n\nc", "\n"), (Words{"a b", "c"}));
  EXPECT_EQ(words(" \n"), Words{});
  EXPECT_EQ(words(""), Words{});
}

TEST(KernelText, ReadsCounts) {
  EXPECT_EQ(count("0"), 0);
  EXPECT_EQ(count("18446744073709551615"), 18446744073709551615.0);
  for (const auto text : {"", "-1", "+1", "1.5", "1 ", "max", "18446744073709551616"}) {
    EXPECT_EQ(count(text), std::nullopt) << text;
  }
}

TEST(KernelText, FindsAWordInATable) {
  const std::string_view table = "MemTotal:   100 kB\nMemFree:\t7 kB\nLast:";
  EXPECT_EQ(word_after("MemTotal:", table), "100");
  EXPECT_EQ(word_after("MemFree:", table), "7");
  EXPECT_EQ(word_after("Last:", table), "");
  EXPECT_EQ(word_after("Swap:", table), "");
  EXPECT_EQ(word_after("Swap:", ""), "");
}

TEST(KernelText, FindsTheLeastLimit) {
  EXPECT_EQ(least({}), std::nullopt);
  EXPECT_EQ(least({std::nullopt, std::nullopt}), std::nullopt);
  EXPECT_EQ(least({3, std::nullopt, 2}), 2);
}

}  // namespace
}  // namespace seqtrain::kernel_text
