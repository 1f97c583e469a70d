#include <gtest/gtest.h>

#include <seqtrain/page/run_log.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain::page {
namespace {

constexpr std::string_view log_text =
    R"({"event":"begin","time":"2026-01-01T00:00:00.000Z","epochs":2,"steps":9,)"
    R"("examples":5,"step":0}
{"event":"step","time":"t","step":1,"epoch":1,"loss":0.5,"gradient_norm":null,)"
    R"("learning_rate":1e-5,"machine":{"memory_mib":7}}
{"event":"skipped","time":"t","step":2,"problem":"p"}
{"event":"eval","time":"t","split":"dev","step":4,"epoch":1,)"
    R"("accuracy":0.5,"loss":1,"metrics":{"own":2}}
not a record
{"event":"begin","time":"t","epochs":2,"steps":9,"examples":5,"step":4}
{"event":"step","time":"t","step":5,"epoch":2,"loss":null}
{"event":"end","time":"u","step":9,"seconds":3.5}
{"event":"step","time":"v","ste)";

TEST(RunLog, ReadsWhatJsonLinesWrites) {
  const RunLog log = read_run_log(log_text);
  EXPECT_EQ(log.begin, "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(log.last, "u");
  EXPECT_EQ(log.steps, 9);
  EXPECT_TRUE(log.ended);
  EXPECT_EQ(log.seconds, 3.5);
  EXPECT_EQ(log.curve("loss"), (std::vector<html::Point>{{1, 0.5}}));
  EXPECT_EQ(log.curve("machine/memory_mib"), (std::vector<html::Point>{{1, 7}}));
  EXPECT_TRUE(log.curve("gradient_norm").empty());
  ASSERT_EQ(log.marks.size(), 2U);
  EXPECT_EQ(log.marks[0].text, "skipped");
  EXPECT_EQ(log.marks[1].text, "resumed");
  EXPECT_EQ(log.marks[1].step, 4);
  ASSERT_EQ(log.evaluations.size(), 1U);
  EXPECT_EQ(log.evaluations[0].figure("own"), 2);
  EXPECT_EQ(log.evaluations[0].figure("accuracy"), 0.5);
}

TEST(RunLog, PrefersTheLogOfARunThatIsUnderWay) {
  const tests::TemporaryDirectory directory;
  EXPECT_EQ(load_run_log(directory / "log").steps, 0);
  tests::write_file(directory / "log", "{\"event\":\"begin\",\"steps\":1}\n");
  EXPECT_EQ(load_run_log(directory / "log").steps, 1);
  tests::write_file(directory / "log.partial", "{\"event\":\"begin\",\"steps\":2}\n");
  EXPECT_EQ(load_run_log(directory / "log").steps, 2);
}

}  // namespace
}  // namespace seqtrain::page
