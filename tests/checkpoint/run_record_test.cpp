#include <string>

#include <gtest/gtest.h>

#include <seqtrain/checkpoint/run_record.hpp>
#include <seqtrain/sink/memory.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::checkpoint {
namespace {

TEST(RunRecord, NamesTheRunThatAPlaceContinues) {
  sink::Memory store;
  EXPECT_EQ(RunRecord{store}.run(), "");
  RunRecord record{store};
  record.claim("run_1", "program 1");
  EXPECT_TRUE(record.renew(500));
  EXPECT_EQ(RunRecord{store}.run(), "run_1");
  const std::string text = store.get("run.json")->bytes;
  EXPECT_NE(text.find("\"step\": 500"), std::string::npos) << text;
}

TEST(RunRecord, AProgramThatWasReplacedNotices) {
  sink::Memory store;
  RunRecord first{store};
  first.claim("run_1", "program 1");
  RunRecord second{store};
  second.claim("run_1", "program 2");  // the same run, on another machine
  EXPECT_FALSE(first.renew(500));
  EXPECT_TRUE(second.renew(500));
}

TEST(RunRecord, IsWrittenAgainIfItIsRemoved) {
  sink::Memory store;
  RunRecord record{store};
  record.claim("run_1", "program 1");
  store.remove("run.json");
  EXPECT_TRUE(record.renew(500));
  EXPECT_TRUE(record.was_removed());
  EXPECT_EQ(RunRecord{store}.run(), "run_1");
  EXPECT_TRUE(record.renew(600));
  EXPECT_FALSE(record.was_removed());
}

TEST(RunRecord, IsNotWrittenAgainOverAnotherPrograms) {
  sink::Memory store;
  RunRecord first{store};
  first.claim("run_1", "program 1");
  store.remove("run.json");
  RunRecord{store}.claim("run_2", "program 2");
  EXPECT_FALSE(first.renew(500));
  EXPECT_EQ(RunRecord{store}.run(), "run_2");
}

TEST(RunRecord, OfTwoProgramsThatStartAtOnceOneGoesOn) {
  sink::Memory store;
  RunRecord first{store}, second{store};
  first.claim("run_1", "program 1");
  const auto problem = tests::problem_of([&] { second.claim("run_2", "program 2"); });
  EXPECT_NE(problem.find("another program has just started here"), std::string::npos) << problem;
  EXPECT_TRUE(first.renew(1));
}

/// Loses the answer of each write.
struct Lossy : sink::Memory {
  std::optional<std::int64_t> put_if(std::string_view key, std::span<const std::byte> bytes,
                                     std::int64_t generation) {
    (void)sink::Memory::put_if(key, bytes, generation);
    throw Error{"the connection broke"};
  }
};

TEST(RunRecord, FindsItsOwnWriteAgainWhoseAnswerWasLost) {
  Lossy store;
  RunRecord record{store};
  EXPECT_THROW(record.claim("run_1", "program 1"), Error);
  auto& memory = static_cast<sink::Memory&>(store);
  RunRecord again{memory};
  EXPECT_EQ(again.run(), "run_1");
  again.claim("run_1", "program 1");
  // Another write of this program, which it does not know of.
  RunRecord same{memory};
  same.claim("run_1", "program 1");
  EXPECT_TRUE(again.renew(3));
}

TEST(RunRecord, RefusesWhatIsNone) {
  sink::Memory store;
  const std::string text = "{";
  store.put("run.json", std::as_bytes(std::span{text}));
  EXPECT_THROW(RunRecord{store}, InputError);
}

}  // namespace
}  // namespace seqtrain::checkpoint
