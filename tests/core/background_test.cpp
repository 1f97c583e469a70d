#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <seqtrain/core/background.hpp>

namespace seqtrain {
namespace {

using namespace std::chrono_literals;

TEST(Background, RunsATaskOnAThreadOfItsOwn) {
  Background background;
  EXPECT_FALSE(background.busy());
  background.wait();  // returns at once
  std::promise<void> released;
  std::thread::id thread;
  background.start([&] {
    thread = std::this_thread::get_id();
    released.get_future().wait();
  });
  EXPECT_TRUE(background.busy());
  released.set_value();
  background.wait();
  EXPECT_FALSE(background.busy());
  EXPECT_NE(thread, std::this_thread::get_id());
}

TEST(Background, RunsOneTaskAtATimeInOrder) {
  Background background;
  std::string order;
  for (const char letter : std::string{"abc"}) {
    background.start([&order, letter] { order += letter; });
  }
  background.wait();
  EXPECT_EQ(order, "abc");
}

/// Returns the result of a pause of an hour during which `during` is called on another thread.
bool pause_of_an_hour(const std::function<void(Background&)>& during) {
  Background background;
  std::promise<void> begun;
  bool result = false;
  background.start([&] {
    begun.set_value();
    result = background.pause(1h);
  });
  begun.get_future().wait();
  during(background);
  background.wait();
  return result;
}

TEST(Background, APauseEndsEarly) {
  EXPECT_TRUE(pause_of_an_hour([](Background& background) { background.hurry(); }));
  EXPECT_FALSE(pause_of_an_hour([](Background& background) { background.stop(); }));
}

TEST(Background, APauseEndsByItself) {
  Background background;
  bool result = false;
  background.start([&] { result = background.pause(1ms); });
  background.wait();
  EXPECT_TRUE(result);
}

TEST(Background, HurryEndsTheNextPauseOnly) {
  Background background;
  background.hurry();
  std::atomic<int> pauses{0};
  background.start([&] {
    while (background.pause(1h)) ++pauses;
  });
  while (pauses < 1) std::this_thread::yield();
  EXPECT_TRUE(background.busy());
  background.stop();
  background.wait();
  EXPECT_EQ(pauses, 1);
}

TEST(Background, ItsEndEndsPausesAndWaitsForTheTask) {
  std::promise<void> begun;
  std::optional<bool> result;
  {
    auto background = std::make_unique<Background>();
    background->start([&, task = background.get()] {
      begun.set_value();
      result = task->pause(1h);
    });
    begun.get_future().wait();
  }
  EXPECT_EQ(result, false);
}

}  // namespace
}  // namespace seqtrain
