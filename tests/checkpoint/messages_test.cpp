#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/checkpoint/messages.hpp>

namespace seqtrain::checkpoint {
namespace {

TEST(Messages, WaitForTheThreadThatPassesThemOn) {
  Messages messages;
  std::thread{[&] { messages.warn("the disk is full"); }}.join();
  messages.say("saved");
  std::vector<std::string> log;
  const auto write = [&](const train::Notice& notice) {
    log.push_back((notice.warning ? "warning: " : "") + std::string{notice.text});
  };
  messages.pass_on(write);
  EXPECT_EQ(log, (std::vector<std::string>{"warning: the disk is full", "saved"}));
  messages.pass_on(write);
  EXPECT_EQ(log.size(), 2);
}

TEST(Messages, AreDroppedWithoutALog) {
  Messages messages;
  messages.say("saved");
  messages.pass_on({});
  messages.pass_on([](const train::Notice&) { ADD_FAILURE(); });
}

}  // namespace
}  // namespace seqtrain::checkpoint
