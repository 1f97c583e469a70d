#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/is_parquet.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain::data {
namespace {

TEST(IsParquet, GoesByTheNameOrTheFirstBytesOfAnyFile) {
  const tests::TemporaryDirectory directory;
  const auto lines = tests::write_file(directory / "lines", "{}\n");
  const auto table = tests::write_file(directory / "table", "PAR1…");
  const auto short_file = tests::write_file(directory / "short", "PAR");
  EXPECT_TRUE(is_parquet({"missing.parquet"}));
  EXPECT_TRUE(is_parquet({lines, table}));
  EXPECT_FALSE(is_parquet({lines, short_file, directory / "missing"}));
  EXPECT_FALSE(is_parquet({}));
}

TEST(IsParquet, ReadsTheFirstAndTheLastBytes) {
  const tests::TemporaryDirectory directory;
  const auto file = tests::write_file(directory / "file", "begin end");
  EXPECT_EQ(four_bytes(file), "begi");
  EXPECT_EQ(four_bytes(file, true), " end");
  EXPECT_EQ(four_bytes(directory / "missing"), "");
}

}  // namespace
}  // namespace seqtrain::data
