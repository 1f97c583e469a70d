#include <chrono>
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
#include "support/shared_store.hpp"
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
  EXPECT_NE(warnings[0].find("cannot be written: File too large; `ulimit -f` allows"),
            std::string::npos)
      << warnings[0];
  EXPECT_TRUE(warnings[0].ends_with("raise it; training goes on without it")) << warnings[0];
}

TEST_F(EventFileTest, WarnsOnceOfADirectoryThatCannotBe) {
  tests::write_file(directory / "run", "a file");
  EventFile file{logs, warn};
  file.append(record("a"));
  file.append(record("b"));
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("Not a directory"), std::string::npos) << warnings[0];
}

using namespace std::chrono_literals;

struct EventObjectsTest : testing::Test {
  static std::string record(const std::string& data) {
    std::string text;
    append_record(text, data);
    return text;
  }

  /// Returns the data of each object's records without the first record, which has the version.
  std::vector<std::vector<std::string>> objects() {
    std::vector<std::vector<std::string>> all;
    for (const auto& key : store.list("")) {
      auto records = tests::records_of(store.get(key)->bytes);
      EXPECT_EQ(tests::event_seen(records.at(0)).version, "brain.Event:2");
      all.emplace_back(records.begin() + 1, records.end());
    }
    return all;
  }

  using Objects = std::vector<std::vector<std::string>>;
  tests::SharedStore store;
  std::vector<std::string> warnings;
  const std::function<void(std::string_view)> warn = [this](std::string_view text) {
    warnings.emplace_back(text);
  };
};

TEST_F(EventObjectsTest, PutsANewObjectEachTime) {
  EventObjects log{sink::Any{store}, 1h, warn};
  log.append(record("a"));
  log.append(record("b"));
  EXPECT_EQ(objects(), Objects{});
  log.finish();
  EXPECT_EQ(objects(), (Objects{{"a", "b"}}));
  log.append(record("c"));
  log.finish();
  log.finish();
  EXPECT_EQ(objects(), (Objects{{"a", "b"}, {"c"}}));
  EXPECT_TRUE(warnings.empty());
}

TEST_F(EventObjectsTest, PutsTheRestAtItsEnd) {
  {
    EventObjects log{sink::Any{store}, 1h, warn};
    log.append(record("a"));
    log.publish();
    log.append(record("b"));
  }
  EXPECT_EQ(objects(), (Objects{{"a"}, {"b"}}));
}

TEST_F(EventObjectsTest, PutsWhenItsTimeHasCome) {
  EventObjects log{sink::Any{store}, 0s, warn};
  log.append(record("a"));
  for (int i = 0; objects().empty() && i < 10000; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(objects(), (Objects{{"a"}}));
}

TEST_F(EventObjectsTest, DoesNotWaitForASlowStore) {
  EventObjects log{sink::Any{store}, 0s, warn};
  {
    const auto hold = store.hold();
    for (const char* data : {"a", "b", "c"}) log.append(record(data));  // would wait for ever
    log.publish();
    EXPECT_EQ(objects(), Objects{});
  }
  log.finish();
  EXPECT_EQ(objects(), (Objects{{"a"}, {"b", "c"}}));
}

TEST_F(EventObjectsTest, WarnsOnceAndPutsAgainWhatCouldNotBePut) {
  EventObjects log{sink::Any{store}, 1h, warn};
  store.fail(true);
  for (const char* data : {"a", "b"}) {
    log.append(record(data));
    log.finish();
  }
  EXPECT_EQ(objects(), Objects{});
  store.fail(false);
  log.append(record("c"));
  log.finish();
  EXPECT_EQ(objects(), (Objects{{"a", "b", "c"}}));
  EXPECT_EQ(warnings, std::vector<std::string>{"bucket: is not reachable; training goes on, and "
                                               "its event files are tried again"});
}

TEST_F(EventObjectsTest, PutsAgainAtItsEndWhatCouldNotBePut) {
  {
    EventObjects log{sink::Any{store}, 1h, warn};
    store.fail(true);
    log.append(record("a"));
    log.finish();
    store.fail(false);
  }
  EXPECT_EQ(objects(), (Objects{{"a"}}));
}

TEST_F(EventObjectsTest, DoesNotThrowFromItsDestructor) {
  store.fail(true);
  {
    EventObjects log{sink::Any{store}, 1h, [](std::string_view) { throw Error{"no"}; }};
    log.append(record("a"));
  }
  EXPECT_EQ(objects(), Objects{});
}

}  // namespace
}  // namespace seqtrain::report
