#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/cli/flag_text.hpp>

namespace seqtrain::cli {
namespace {

TEST(FlagText, IsWhatPeopleWrite) {
  EXPECT_EQ(flag_text(5e-5), "5e-05");
  EXPECT_EQ(flag_text(0.0001), "0.0001");
  EXPECT_EQ(flag_text(0.1), "0.1");
  EXPECT_EQ(flag_text(10.0), "10");
  EXPECT_EQ(flag_text(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(flag_text(std::int64_t{7}), "7");
}

TEST(FlagText, ReadsBackAsTheValue) {
  for (const double value : {1.0 / 3, 0.12345678901234567, 1e-300, 123456789.5}) {
    EXPECT_EQ(std::stod(flag_text(value)), value);
  }
}

TEST(FlagText, JoinsAtCommas) {
  const std::vector<std::string> parts{"a", "", "b c"};
  EXPECT_EQ(flag_text(parts), "a,,b c");
  EXPECT_EQ(split_at_commas(flag_text(parts)), parts);
}

TEST(FlagText, QuotesForAShell) {
  EXPECT_EQ(shell_word("a-b/c.d"), "a-b/c.d");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace seqtrain::cli
