#include <string>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>

namespace seqtrain {
namespace {

TEST(Error, SaysWhereWhatAndWhatToDo) {
  const Error error{"is not UTF-8",
                    {.object = "train.jsonl", .line = 12, .field = "sentence1"},
                    "save the file as UTF-8"};
  EXPECT_STREQ(error.what(), "train.jsonl:12: sentence1: is not UTF-8; save the file as UTF-8");
  EXPECT_EQ(error.where().line, 12);
}

TEST(Error, LeavesOutWhatIsNotKnown) {
  EXPECT_STREQ(Error{"went wrong"}.what(), "went wrong");
  EXPECT_STREQ((Error{"is empty", {.object = "a.csv"}}.what()), "a.csv: is empty");
}

TEST(Error, ShortensWhatAFileMayMakeLong) {
  std::string name;
  for (int i = 0; i < 100'000; ++i) name += "é";
  const std::string told = Error{name, {.object = "a.bin", .field = name}}.what();
  EXPECT_LT(told.size(), 2500U);
  EXPECT_TRUE(told.starts_with("a.bin: éé")) << told;
  EXPECT_NE(told.find("é… (199700 bytes) …é"), std::string::npos) << told;
  EXPECT_NE(told.find("é… (198000 bytes) …é"), std::string::npos) << told;
  EXPECT_TRUE(told.ends_with("éé")) << told;
  const std::string whole(2000, 'a');
  EXPECT_EQ(Error{whole}.what(), whole);
}

TEST(Error, IsOneLineWhateverANameHolds) {
  EXPECT_STREQ((Error{"is missing", {.object = "a\nb", .field = "\x1B[31mc"}}.what()),
               "a?b: ?[31mc: is missing");
}

TEST(Error, InputErrorIsAnError) {
  EXPECT_THROW(throw InputError{"no such flag"}, Error);
}

}  // namespace
}  // namespace seqtrain
