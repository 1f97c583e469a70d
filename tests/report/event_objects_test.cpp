#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/report/event_objects.hpp>

#include "support/event_records.hpp"
#include "support/shared_store.hpp"

namespace seqtrain::report {
namespace {

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
