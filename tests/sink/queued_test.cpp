#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/sink/directory.hpp>
#include <seqtrain/sink/queued.hpp>

#include "support/sink_conformance.hpp"

namespace seqtrain::tests {
namespace {

struct QueuedSubject {
  std::optional<std::string> read(std::string_view key) const {
    const auto path = directory / key;
    if (!std::filesystem::is_regular_file(path)) return std::nullopt;
    return read_file(path);
  }

  TemporaryDirectory directory;
  sink::Queued<sink::Directory> sink{sink::Directory{directory.path()}};
};

INSTANTIATE_TYPED_TEST_SUITE_P(Queued, SinkConformance, QueuedSubject);

/// A sink that remembers keys, waits while it is held, and fails at keys that begin with "bad".
struct Slow {
  struct Shared {
    std::mutex gate;
    std::mutex mutex;
    std::vector<std::string> keys;
    std::vector<std::string> all() {
      const std::lock_guard lock{mutex};
      return keys;
    }
  };

  void put(std::string_view key, std::span<const std::byte>) {
    const std::lock_guard held{shared->gate};
    if (key.starts_with("bad")) throw Error{std::string{key}};
    const std::lock_guard lock{shared->mutex};
    shared->keys.emplace_back(key);
  }
  void put_file(std::string_view key, const std::filesystem::path&) { put(key, {}); }
  void flush() {}

  std::shared_ptr<Shared> shared = std::make_shared<Shared>();
};

class Queue : public testing::Test {
 protected:
  Slow slow_;
  Slow::Shared& shared_ = *slow_.shared;
};

TEST_F(Queue, DoesNotWaitForTheSink) {
  sink::Queued queued{slow_};
  std::unique_lock held{shared_.gate};
  queued.put("a", bytes_of("text"));
  queued.put_file("b", "file");
  EXPECT_TRUE(shared_.all().empty());
  held.unlock();
  queued.flush();
  EXPECT_EQ(shared_.all(), (std::vector<std::string>{"a", "b"}));
}

TEST_F(Queue, IsBounded) {
  sink::Queued queued{slow_, {.max_entries = 2}};
  std::unique_lock held{shared_.gate};
  std::atomic<int> put = 0;
  std::thread producer{[&] {
    for (const char* key : {"a", "b", "c", "d", "e"}) {
      queued.put(key, bytes_of("text"));
      ++put;
    }
  }};
  while (put < 3) std::this_thread::yield();  // one is being put, two wait
  EXPECT_LE(put, 3);
  held.unlock();
  producer.join();
  queued.flush();
  EXPECT_EQ(shared_.all().size(), 5u);
}

TEST_F(Queue, IsBoundedInBytesButTakesOneOfAnySize) {
  sink::Queued queued{slow_, {.max_bytes = 3}};
  for (int i = 0; i < 4; ++i) queued.put(std::to_string(i), bytes_of("0123456789"));
  queued.flush();
  EXPECT_EQ(shared_.all().size(), 4u);
}

TEST_F(Queue, PutsNothingAfterAFailureUntilFlushToldOfIt) {
  sink::Queued queued{slow_};
  queued.put("a", bytes_of("text"));
  queued.put("bad1", bytes_of("text"));
  queued.put("bad2", bytes_of("text"));
  queued.put("index", bytes_of("text"));
  try {
    queued.flush();
    FAIL() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "bad1");
  }
  EXPECT_EQ(shared_.all(), (std::vector<std::string>{"a"}));
  queued.flush();
  queued.put("b", bytes_of("text"));
  queued.flush();
  EXPECT_EQ(shared_.all(), (std::vector<std::string>{"a", "b"}));
}

TEST_F(Queue, FinishesWhatIsQueuedAtItsEnd) {
  {
    sink::Queued queued{slow_};
    for (int i = 0; i < 10; ++i) queued.put(std::to_string(i), bytes_of("text"));
  }
  EXPECT_EQ(shared_.all().size(), 10u);
}

TEST_F(Queue, NeedsRoom) {
  EXPECT_THROW((sink::Queued<Slow>{slow_, {.max_entries = 0}}), InputError);
  EXPECT_THROW((sink::Queued<Slow>{slow_, {.max_bytes = 0}}), InputError);
}

}  // namespace
}  // namespace seqtrain::tests
