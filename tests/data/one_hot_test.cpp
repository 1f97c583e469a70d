#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/data/one_hot.hpp>
#include <seqtrain/data/reader.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain::data {
namespace {

using NamesOfLabels = std::vector<std::string>;

one_hot::Table read_one_hot(std::string_view text,
                            const one_hot::Options& options = {.labels = {"a", "b"}}) {
  return one_hot::read({.text = text, .name = "set.csv"}, options);
}

void expect_one_hot_error(std::string_view text, const one_hot::Options& options,
                          const std::string& says) {
  try {
    (void)read_one_hot(text, options);
    FAIL() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_NE(std::string{error.what()}.find(says), std::string::npos) << error.what();
  }
}

TEST(OneHot, ReadsLabelsAndGivesOtherToTextsWithoutOne) {
  const auto table = read_one_hot(
      "id,b,text,a\n1,0,x,1\n2,True,\"y, \"\"z\"\"\",True\n3,False,w,0\n\n4,1.0,v,0.0\n");
  ASSERT_EQ(table.rows.size(), 4U);
  EXPECT_EQ(table.rows[0].labels, NamesOfLabels{"a"});
  EXPECT_EQ(table.rows[1].text, "y, \"z\"");
  EXPECT_EQ(table.rows[1].labels, (NamesOfLabels{"a", "b"}));
  EXPECT_EQ(table.rows[2].labels, NamesOfLabels{"other"});
  EXPECT_EQ(table.rows[3].labels, NamesOfLabels{"b"});
  EXPECT_EQ(table.names({"b", "a"}), (NamesOfLabels{"a", "b", "other"}));
  EXPECT_EQ(table.left_out, 0U);
}

TEST(OneHot, LeavesOutRowsWithAMissingValueInAnyColumn) {
  const auto table =
      read_one_hot("text,a,b,note\nx,1,0,\n,1,0,n\ny,NaN,0,n\nnull,1,0,n\nz,1,0,n\n");
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0].text, "z");
  EXPECT_EQ(table.left_out, 4U);
}

TEST(OneHot, NamesOnlyLabelsThatOccurOrAreAskedFor) {
  EXPECT_EQ(read_one_hot("text,a,b\nx,1,0\n").names({"a", "b"}), (NamesOfLabels{"a", "b"}));
}

TEST(OneHot, TellsWhatIsWrong) {
  const one_hot::Options both{.labels = {"a", "b"}};
  expect_one_hot_error("text,a\nx,1\n", both, "set.csv: b: no such column; there are: text, a");
  expect_one_hot_error("words,a,b\nx,1,0\n", both, "set.csv: text: no such column");
  expect_one_hot_error("text,a,b\nx,1,0\ny,2,0\n", both, "set.csv:3: a: expected 0 or 1");
  expect_one_hot_error("text,a,b\nx,1\n", both, "set.csv:2: expected 3 columns, found 2");
  expect_one_hot_error("", both, "holds no example");
  expect_one_hot_error("text,a\nx,1\n", {.labels = {"a", "a"}}, "name 'a' twice");
  expect_one_hot_error("text,a\nx,1\n", {.labels = {"a", "other"}}, "contain 'other'");
  expect_one_hot_error("text,a\nx,1\n", {}, "must not be empty");
}

TEST(OneHot, WritesRowsThatTheReaderReads) {
  const tests::TemporaryDirectory directory;
  const auto table = read_one_hot("text,a,b\nx,1,1\n\"y\n\"\"z\"\"\",0,0\nw,0,1\n");
  const std::vector<std::size_t> rows{1, 0};
  one_hot::write_labelled_csv(directory / "multi.csv", table, rows, true);
  one_hot::write_labelled_csv(directory / "single.csv", table, rows, false);
  const auto labels = [&](const char* name) {
    NamesOfLabels found;
    const MappedFile file{directory / name};
    data::Reader{{.text = file.text(), .name = name}}.read_all([&](const data::Example& example) {
      found.emplace_back(example.text);
      found.emplace_back(*example.label);
    });
    return found;
  };
  EXPECT_EQ(labels("multi.csv"), (NamesOfLabels{"y\n\"z\"", R"(["other"])", "x", R"(["a","b"])"}));
  EXPECT_EQ(labels("single.csv"), (NamesOfLabels{"y\n\"z\"", "other", "x", "a"}));
}

}  // namespace
}  // namespace seqtrain::data
