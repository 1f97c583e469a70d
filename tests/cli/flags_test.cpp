#include <array>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/cli/flags.hpp>
#include <seqtrain/report/log.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::cli {
namespace {

struct Values {
  std::int64_t batch_size = 16;
  double learning_rate = 5e-5;
  std::string job_dir = "";
  bool freeze_encoder = false;
  std::vector<std::string> labels = {};
};

struct Parsed {
  Values values;
  bool go_on = false;
  std::vector<std::pair<std::string, std::string>> texts;
};

Parsed parse(std::vector<const char*> arguments) {
  Parsed parsed;
  Flags flags{"program", "does something"};
  flags.add("batch-size", parsed.values.batch_size, "")
      .alias("train-batch-size")
      .alias("bs")
      .add("learning-rate", parsed.values.learning_rate, "")
      .add("job-dir", parsed.values.job_dir, "")
      .add_switch("freeze-encoder", parsed.values.freeze_encoder, "")
      .add("labels", parsed.values.labels, "");
  arguments.insert(arguments.begin(), "program");
  parsed.go_on = flags.parse(static_cast<int>(arguments.size()), arguments.data());
  parsed.texts = flags.values();
  return parsed;
}

TEST(Flags, KeepTheVariablesValueAsDefault) {
  const auto parsed = parse({});
  EXPECT_TRUE(parsed.go_on);
  EXPECT_EQ(parsed.values.batch_size, 16);
  EXPECT_EQ(parsed.values.job_dir, "");
}

TEST(Flags, TakeDashAndUnderscoreAlike) {
  EXPECT_EQ(parse({"--batch_size", "32"}).values.batch_size, 32);
  EXPECT_EQ(parse({"--batch-size=8"}).values.batch_size, 8);
  EXPECT_TRUE(parse({"--freeze_encoder"}).values.freeze_encoder);
}

TEST(Flags, LeaveUnderscoresInValuesAlone) {
  EXPECT_EQ(parse({"--job_dir=a_b-c"}).values.job_dir, "a_b-c");
  EXPECT_EQ(parse({"--job-dir", "my_dir/with space"}).values.job_dir, "my_dir/with space");
}

TEST(Flags, TakeOtherNames) {
  for (const char* argument : {"--train-batch-size=8", "--train_batch_size=8", "--bs=8"}) {
    const auto parsed = parse({argument});
    EXPECT_EQ(parsed.values.batch_size, 8) << argument;
    EXPECT_EQ(parsed.texts[0].first, "batch-size");
  }
  EXPECT_EQ(parse({"--train-batch-size", "8", "--job-dir", "bs"}).values.job_dir, "bs");
}

TEST(Flags, RefuseTwoNamesOfOneFlag) {
  EXPECT_EQ(tests::problem_of([] {
              parse({"--batch_size", "8", "--bs=8"});
            }),
            "--bs: is the same flag as --batch-size, which is given too");
  EXPECT_EQ(tests::problem_of([] {
              parse({"--bs=8", "--train-batch-size=8"});
            }),
            "--train-batch-size: is the same flag as --bs, which is given too");
  EXPECT_THROW(parse({"--bs=8", "--bs=8"}), InputError);
}

TEST(Flags, ListAFlagWithOtherNamesOnce) {
  testing::internal::CaptureStdout();
  EXPECT_FALSE(parse({"--help"}).go_on);
  EXPECT_EQ(testing::internal::GetCapturedStdout().find("--bs"), std::string::npos);
}

TEST(Flags, TakeAnEmptyValue) {
  EXPECT_EQ(parse({"--job-dir", ""}).values.job_dir, "");
}

TEST(Flags, SplitListsAtCommas) {
  EXPECT_EQ(parse({"--labels", "no,yes,may be"}).values.labels,
            (std::vector<std::string>{"no", "yes", "may be"}));
  EXPECT_TRUE(parse({}).values.labels.empty());
}

TEST(Flags, RefuseWhatTheyDoNotKnow) {
  EXPECT_THROW(parse({"--unheard-of", "1"}), InputError);
  EXPECT_THROW(parse({"--batch", "32"}), InputError);  // no guessing at prefixes
  EXPECT_THROW(parse({"stray"}), InputError);
  EXPECT_THROW(parse({"--batch-size", "many"}), InputError);
  EXPECT_THROW(parse({"--batch-size", "1.5"}), InputError);
  EXPECT_THROW(parse({"--batch-size"}), InputError);
  EXPECT_THROW(parse({"--batch-size", "1", "--batch-size", "2"}), InputError);
}

TEST(Flags, TellTheirValues) {
  const auto texts = parse({"--labels=a,b", "--batch-size=4"}).texts;
  ASSERT_EQ(texts.size(), 5U);
  EXPECT_EQ(texts[0], (std::pair<std::string, std::string>{"batch-size", "4"}));
  EXPECT_EQ(texts[1].second, "5e-05");
  EXPECT_EQ(texts[3].second, "false");
  EXPECT_EQ(texts[4].second, "a,b");
}

TEST(Flags, TellWhichValuesDetermineResults) {
  std::int64_t seed = 1;
  std::int64_t threads = 2;
  bool freeze = true;
  std::vector<std::string> labels{"a", "b"};
  Flags flags{"program", "does something"};
  flags.add("seed", seed, "", determines_results)
      .add("threads", threads, "")
      .add_switch("freeze", freeze, "", determines_results)
      .add("labels", labels, "", determines_results);
  EXPECT_EQ(flags.determining_values(),
            (train::Pairs{{"seed", "1"}, {"freeze", "true"}, {"labels", "a,b"}}));
  EXPECT_EQ(flags.values().size(), 4U);
}

/// The format of a log after the flags were parsed, or the problem.
std::string log_format(std::vector<const char*> arguments) {
  std::ostringstream out;
  std::ostringstream errors;
  const report::Log log{{.out = &out, .errors = &errors}};
  std::int64_t batch_size = 16;
  Flags flags{"program", "does something", log};
  flags.add("batch-size", batch_size, "");
  arguments.insert(arguments.begin(), "program");
  const std::string problem = tests::problem_of(
      [&] { (void)flags.parse(static_cast<int>(arguments.size()), arguments.data()); });
  log.error("an error");
  return (errors.str().empty() ? "json: " : "text: ") + problem;
}

TEST(Flags, SetTheFormatOfTheLog) {
  EXPECT_EQ(log_format({}), "text: nothing was thrown");
  EXPECT_EQ(log_format({"--log-format", "auto"}), "text: nothing was thrown");
  EXPECT_EQ(log_format({"--log-format", "json"}), "json: nothing was thrown");
  EXPECT_EQ(log_format({"--log_format=json"}), "json: nothing was thrown");
  EXPECT_EQ(log_format({"--log-format", "text"}), "text: nothing was thrown");
  EXPECT_EQ(log_format({"--log-format", "xml"}),
            "text: --log-format: is unknown: use auto, text or json");
}

TEST(Flags, SetTheFormatBeforeTheyRefuseOthers) {
  EXPECT_TRUE(log_format({"--unheard-of", "1", "--log-format=json"}).starts_with("json: "));
  EXPECT_TRUE(log_format({"--batch-size", "many", "--log_format", "json"}).starts_with("json: "));
  EXPECT_TRUE(log_format({"--log-format=json", "--log-format"}).starts_with("json: "));
}

TEST(Flags, HaveNoLogFormatWithoutALog) {
  EXPECT_THROW(parse({"--log-format", "json"}), InputError);
}

TEST(Flags, PrintHelpAndStop) {
  testing::internal::CaptureStdout();
  EXPECT_FALSE(parse({"--help"}).go_on);
  const std::string help = testing::internal::GetCapturedStdout();
  EXPECT_NE(help.find("--batch-size"), std::string::npos);
  EXPECT_NE(help.find("does something"), std::string::npos);
}

TEST(Flags, PrintDefaultsAsPeopleWriteThem) {
  double rate = 5e-5;
  double share = 0.1;
  double not_given = std::numeric_limits<double>::quiet_NaN();
  std::int64_t threads = 2;
  std::string place;
  Flags flags{"program", "does something"};
  flags.add("rate", rate, "").add("share", share, "").add("not-given", not_given, "");
  flags.add("threads", threads, "").add("place", place, "");
  testing::internal::CaptureStdout();
  const std::array<const char*, 2> arguments{"program", "--help"};
  flags.parse(2, arguments.data());
  const std::string help = testing::internal::GetCapturedStdout();
  for (const char* line : {"--rate arg (=5e-05)", "--share arg (=0.1)", "--threads arg (=2)"}) {
    EXPECT_NE(help.find(line), std::string::npos) << help;
  }
  EXPECT_EQ(help.find("nan)"), std::string::npos) << help;
  EXPECT_EQ(help.find("(=)"), std::string::npos) << help;
}

}  // namespace
}  // namespace seqtrain::cli
