#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/split_files.hpp>

#include "support/corrupt.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::data {
namespace {

std::string names_of(const std::vector<std::filesystem::path>& files) {
  std::string names;
  for (const auto& file : files) names += file.filename().string() + " ";
  return names;
}

TEST(SplitFiles, FitsStars) {
  EXPECT_TRUE(detail::fits("train-00000-of-00002.parquet", "train-*.parquet"));
  EXPECT_TRUE(detail::fits("abab", "*ab"));
  EXPECT_TRUE(detail::fits("", "*"));
  EXPECT_FALSE(detail::fits("train.parquet.tmp", "*.parquet"));
  EXPECT_FALSE(detail::fits("dev.parquet", "train*"));
}

TEST(SplitFiles, TakesNamesPatternsAndDirectories) {
  const tests::TemporaryDirectory directory;
  for (const char* name : {"b-1.parquet", "b-0.parquet", "a.parquet", "a,b", "notes.txt"}) {
    tests::write_file(directory / name, "");
  }
  const std::string in = directory.path().string() + "/";
  EXPECT_EQ(names_of(split_files(in + "a.parquet")), "a.parquet ");
  EXPECT_EQ(names_of(split_files(in + "a,b")), "a,b ");
  EXPECT_EQ(names_of(split_files(in + "b-*.parquet," + in + "a.parquet")),
            "b-0.parquet b-1.parquet a.parquet ");
  EXPECT_EQ(names_of(split_files(directory.path())), "a.parquet b-0.parquet b-1.parquet ");
  EXPECT_EQ(names_of(split_files(in + "missing.parquet")), "missing.parquet ");
}

TEST(SplitFiles, RefusesADirectoryOfSeveralSplits) {
  const tests::TemporaryDirectory directory;
  tests::write_file(directory / "test-00000-of-00001.parquet", "");
  EXPECT_EQ(names_of(split_files(directory.path())), "test-00000-of-00001.parquet ");
  tests::write_file(directory / "train-00000-of-00001.parquet", "");
  EXPECT_NE(tests::refusal([&] { (void)split_files(directory.path()); }).find("several splits"),
            std::string::npos);
  EXPECT_EQ(names_of(split_files(directory / "train-*.parquet")), "train-00000-of-00001.parquet ");
}

TEST(SplitFiles, RefusesAPatternThatFitsNoFile) {
  const tests::TemporaryDirectory directory;
  EXPECT_EQ(tests::refusal([&] { (void)split_files(directory / "x*"); }),
            (directory / "x*").string() + ": no file matches");
  EXPECT_THROW((void)split_files(directory / "none/x*"), InputError);
}

}  // namespace
}  // namespace seqtrain::data
