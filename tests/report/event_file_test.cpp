#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/report/event_file.hpp>

#include "support/event_records.hpp"
#include "support/file_size_limit.hpp"
#include "support/shared_data.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::report {
namespace {

namespace fs = std::filesystem;

constexpr double time_of_golden = 1700000000.125;

TEST(AppendRecord, MakesTheFileThatTensorboardMakes) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::string long_text = "| größe |\n|:--|\n";
  for (int i = 0; i < 200; ++i) long_text += "long ";
  const train::Pairs hparams{{"batch-size", "0"}, {"fp16", "false"}, {"learning-rate", "3e-5"},
                             {"model", "größe"},  {"nan", "nan"},    {"tune", "true"}};
  std::string file;
  const auto add = [&file](const Message& event) { append_record(file, event.encoded()); };
  const auto add_summary = [&add](std::int64_t step, const Summary& summary) {
    add(summary_event(time_of_golden, step, summary));
  };
  add(file_version(time_of_golden));
  add(start_event(time_of_golden, 0));
  add(start_event(time_of_golden, 43));
  add_summary(300, Summary{}
                       .scalar("train/loss", 0.6931)
                       .scalar("a", 0)
                       .scalar("b", nan)
                       .scalar("c", -infinity));
  add_summary(std::int64_t{1} << 40, Summary{}.scalar("largest", 3.4e38));
  add_summary(7, Summary{}.text("flags", long_text));
  add_summary(0, Summary{}.text("invalid",
                                "a\xff\xc3"
                                "b"));
  add_summary(0, Summary{}.hparams(hparams, time_of_golden));
  add_summary(9, Summary{}.hparams_end(time_of_golden));
  EXPECT_EQ(tests::records_of(file),
            tests::records_of(tests::read_file(tests::golden() / "event_file.tfevents")));
  EXPECT_TRUE(file == tests::read_file(tests::golden() / "event_file.tfevents"));
}

TEST(NextEventFileName, IsAnotherOneThatSortsLater) {
  std::string before = next_event_file_name();
  EXPECT_TRUE(before.starts_with("events.out.tfevents.1")) << before;
  for (int i = 0; i < 12; ++i) {
    const std::string name = next_event_file_name();
    EXPECT_LT(before, name);
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789.-"),
              std::string::npos);
    before = name;
  }
}

struct EventFileTest : testing::Test {
  std::string record(const std::string& data) {
    std::string text;
    append_record(text, data);
    return text;
  }

  std::string only_file() {
    EXPECT_EQ(std::distance(fs::directory_iterator{logs}, {}), 1);
    return tests::read_file(fs::directory_iterator { logs } -> path());
  }

  std::vector<std::string> warnings;
  const std::function<void(std::string_view)> warn = [this](std::string_view text) {
    warnings.emplace_back(text);
  };
  const tests::TemporaryDirectory directory;
  const fs::path logs = directory / "run/logs";
};

TEST_F(EventFileTest, HoldsARecordWhenAppendReturns) {
  EventFile file{logs, warn};
  EXPECT_FALSE(fs::exists(logs));
  for (std::size_t i = 0; i < 3; ++i) {
    file.append(record(std::string(100, 'a')));
    const auto records = tests::records_of(only_file());
    ASSERT_EQ(records.size(), i + 2);
    EXPECT_EQ(tests::event_seen(records[0]).version, "brain.Event:2");
  }
  EXPECT_TRUE(warnings.empty());
}

TEST_F(EventFileTest, EndsAfterItsLastWholeRecordWhereTheDiskIsFull) {
  EventFile file{logs, warn};
  file.append(record(std::string(100, 'a')));
  const std::string before = only_file();
  {
    const tests::FileSizeLimit limit{before.size() + 50};
    file.append(record(std::string(100, 'b')));
  }
  EXPECT_EQ(only_file(), before);
  file.append(record("c"));
  EXPECT_EQ(only_file(), before);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("events.out.tfevents."), std::string::npos);
  EXPECT_NE(warnings[0].find("cannot be written: File too large; training goes on without it"),
            std::string::npos)
      << warnings[0];
}

TEST_F(EventFileTest, WarnsOnceOfADirectoryThatCannotBe) {
  tests::write_file(directory / "run", "a file");
  EventFile file{logs, warn};
  file.append(record("a"));
  file.append(record("b"));
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("Not a directory"), std::string::npos) << warnings[0];
}

}  // namespace
}  // namespace seqtrain::report
