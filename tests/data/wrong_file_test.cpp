#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <seqtrain/data/reader.hpp>
#include <seqtrain/data/wrong_file.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::data {
namespace {

std::string refused_file(std::string_view bytes, const std::string& file = "f.csv") {
  return tests::problem_of([&] { demand_text(bytes, file); });
}

TEST(WrongFile, IsNamedByItsFirstBytes) {
  EXPECT_EQ(refused_file(std::string_view{"PK\x03\x04\x14\x00", 6}),
            "f.csv: is a zip archive or a spreadsheet; unpack the archive, or save the spreadsheet "
            "as CSV");
  EXPECT_EQ(refused_file("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n"),
            "f.csv: is a pointer of git-lfs and not the file itself; fetch the file by: git lfs "
            "pull");
  EXPECT_NE(refused_file("\x1f\x8b\x08").find("is compressed"), std::string::npos);
  EXPECT_NE(refused_file("\x28\xb5\x2f\xfd").find("is compressed"), std::string::npos);
  EXPECT_NE(refused_file("PAR1").find("holds Parquet"), std::string::npos);
}

TEST(WrongFile, IsNoTable) {
  EXPECT_NO_THROW(demand_text("text,label\n", "f"));
  EXPECT_NO_THROW(demand_text("version,label\n", "f"));
  EXPECT_NO_THROW(demand_text("", "f"));
}

TEST(WrongFile, IsFoundWhateverItsName) {
  EXPECT_NE(tests::problem_of([] {
              (void)recognise_format("version https://git-lfs.github.com/spec/v1\n", "t.jsonl");
            }).find("git-lfs"),
            std::string::npos);
}

}  // namespace
}  // namespace seqtrain::data
