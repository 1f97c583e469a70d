#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <seqtrain/cli/run.hpp>

namespace seqtrain::cli {
namespace {

template <class Thrown>
std::pair<int, std::string> ended_by(const Thrown& thrown) {
  testing::internal::CaptureStderr();
  const int code = run([&] { throw thrown; });
  return {code, testing::internal::GetCapturedStderr()};
}

TEST(Run, IsZeroWhereNothingIsThrown) {
  EXPECT_EQ(run([] {}), 0);
}

TEST(Run, TellsWrongInputFromFailure) {
  const auto [input, text] = ended_by(InputError{"is empty", {.object = "a.jsonl"}, "fill it"});
  EXPECT_EQ(input, 2);
  EXPECT_EQ(text, "error: a.jsonl: is empty; fill it\n");
  EXPECT_EQ(ended_by(Error{"disk full"}).first, 1);
  EXPECT_EQ(ended_by(std::runtime_error{"anything"}).first, 1);
}

TEST(Run, SaysWhichFlagLowersMemory) {
  const auto [code, text] = ended_by(std::bad_alloc{});
  EXPECT_EQ(code, 1);
  EXPECT_NE(text.find("--batch-size"), std::string::npos);
}

}  // namespace
}  // namespace seqtrain::cli
