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

TEST(Error, InputErrorIsAnError) {
  EXPECT_THROW(throw InputError{"no such flag"}, Error);
}

}  // namespace
}  // namespace seqtrain
