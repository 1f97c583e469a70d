#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <support/dist_worlds.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include <seqtrain/core/error.hpp>
#include <seqtrain/dist/store.hpp>

namespace seqtrain::dist {
namespace {

Clock::time_point in_seconds(int seconds) {
  return Clock::now() + std::chrono::seconds{seconds};
}

/// Returns the names on which ranks that share a store agree. Expects no error.
std::set<std::string> names_agreed_on(const StorePtr& store, int size) {
  std::mutex mutex;
  std::set<std::string> names;
  const auto errors = tests::on_threads(tests::local_worlds(size), [&](const World& world) {
    const auto name = Rendezvous{world, store, in_seconds(20)}.join();
    const std::lock_guard lock{mutex};
    names.insert(name);
  });
  for (const auto& error : errors) EXPECT_EQ(error, "");
  return names;
}

TEST(Rendezvous, GivesAllRanksOneNameAndEachStartAnother) {
  const auto store = c10::make_intrusive<::c10d::HashStore>();
  std::set<std::string> names;
  for (const int size : {4, 2, 3}) {
    const auto agreed = names_agreed_on(store, size);
    EXPECT_EQ(agreed.size(), 1U);
    names.merge(std::set<std::string>{agreed});
  }
  EXPECT_EQ(names.size(), 3U);
}

TEST(Rendezvous, IsNotMisledByWhatAnEarlierStartLeft) {
  const auto store = c10::make_intrusive<::c10d::HashStore>();
  const StorePtr plain = store;
  // An earlier rank 1 asked and was killed; an earlier rank 2 got an answer and confirmed it.
  plain->set("hello/1", "old-1");
  plain->set("hello/2", "old-2");
  plain->set("welcome/old-2", "old-round 9");
  plain->set("ack/old-round/2", "old-2");
  const auto names = names_agreed_on(store, 3);
  EXPECT_EQ(names.size(), 1U);
  EXPECT_FALSE(names.contains("old-round"));
}

TEST(Rendezvous, RefusesAWorldOfAnotherSize) {
  const StorePtr store = c10::make_intrusive<::c10d::HashStore>();
  auto worlds = tests::local_worlds(2);
  worlds[1].size = 3;
  const auto errors = tests::on_threads(worlds, [&](const World& world) {
    static_cast<void>(Rendezvous{world, store, in_seconds(2)}.join());
  });
  EXPECT_NE(errors[0].find("did not join: 1"), std::string::npos) << errors[0];
  EXPECT_NE(errors[1].find("2 processes"), std::string::npos) << errors[1];
  EXPECT_NE(errors[1].find("one of 3"), std::string::npos) << errors[1];
}

TEST(Rendezvous, NamesTheRanksThatDoNotCome) {
  const StorePtr store = c10::make_intrusive<::c10d::HashStore>();
  auto worlds = tests::local_worlds(4);
  worlds.erase(worlds.begin() + 1);
  worlds.pop_back();
  const auto errors = tests::on_threads(worlds, [&](const World& world) {
    static_cast<void>(Rendezvous{world, store, in_seconds(1)}.join());
  });
  EXPECT_NE(errors[0].find("did not join: 1, 3"), std::string::npos) << errors[0];
}

TEST(Rendezvous, TellsIfRank0DoesNotAnswer) {
  const StorePtr store = c10::make_intrusive<::c10d::HashStore>();
  const auto errors = tests::on_threads({tests::local_worlds(2)[1]}, [&](const World& world) {
    static_cast<void>(Rendezvous{world, store, in_seconds(1)}.join());
  });
  EXPECT_NE(errors[0].find("rank 0 does not answer rank 1"), std::string::npos) << errors[0];
}

/// Returns the message of the `InputError` that opening a store throws.
std::string opening_problem(const World& world) {
  try {
    open_store(world, in_seconds(2));
    return {};
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(OpenStore, NamesThePortThatIsInUse) {
  auto world = tests::local_worlds(2)[0];
  const auto first = open_store(world, in_seconds(2));
  const auto problem = opening_problem(world);
  const auto place = "127.0.0.1:" + std::to_string(world.master_port);
  EXPECT_TRUE(problem.starts_with(place + ": rank 0 cannot serve the store there")) << problem;
}

TEST(OpenStore, NamesTheAddressThatDoesNotAnswer) {
  const auto world = tests::local_worlds(2)[1];
  const auto problem = opening_problem(world);
  const auto place = "127.0.0.1:" + std::to_string(world.master_port);
  EXPECT_TRUE(problem.starts_with(place + ": nothing answers")) << problem;
}

TEST(SlowOpenStore, NamesTheServerThatIsNoStore) {
  const tests::Listener listener;
  auto world = tests::local_worlds(2)[1];
  world.master_port = listener.port();
  const auto problem = opening_problem(world);
  const auto place = "127.0.0.1:" + std::to_string(world.master_port);
  EXPECT_TRUE(problem.starts_with(place + ": no store answers")) << problem;
}

}  // namespace
}  // namespace seqtrain::dist
