#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

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

TEST(SplitFiles, TakesEachFileOnce) {
  const tests::TemporaryDirectory directory;
  for (const char* name : {"a-0.csv", "a-1.csv", "b.csv"}) tests::write_file(directory / name, "");
  const std::string in = directory.path().string() + "/";
  EXPECT_EQ(names_of(split_files(in + "b.csv," + in + "b.csv")), "b.csv ");
  EXPECT_EQ(names_of(split_files(in + "a-1.csv," + in + "a*.csv")), "a-1.csv a-0.csv ");
  EXPECT_EQ(names_of(split_files(in + "b.csv," + in + "./x/../b.csv")), "b.csv ");
}

TEST(SplitFiles, RefusesEmptyNamesBetweenCommas) {
  for (const char* names : {"a.csv,", ",a.csv", "a.csv,,b.csv"}) {
    EXPECT_EQ(tests::refusal([&] { (void)split_files(names); }),
              std::string{names} + ": has an empty name between commas");
  }
}

TEST(SplitFiles, RefusesPipesWithoutOpeningThem) {
  const tests::TemporaryDirectory directory;
  const std::string pipe = (directory / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  tests::write_file(directory / "a.csv", "");
  const std::string problem =
      pipe + ": is a pipe, which can be read only once; write its contents to a file and name that";
  EXPECT_EQ(tests::refusal([&] { (void)split_files(pipe); }), problem);
  EXPECT_EQ(tests::refusal([&] { (void)split_files((directory / "a.csv,").string() + pipe); }),
            problem);
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
