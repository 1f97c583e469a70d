#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/checkpoint/with_checkpointer.hpp>
#include <seqtrain/sink/memory.hpp>

#include "support/environment.hpp"
#include "support/fakes.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::checkpoint {
namespace {

namespace fs = std::filesystem;

/// An optimizer that no checkpoint can hold.
struct Stateless : tests::FakeSgd {
  void state() const {}
};

struct Notes {
  void on(const train::Notice& notice) { texts.emplace_back(notice.text); }
  std::vector<std::string> texts = {};
};

struct WithCheckpointerTest : testing::Test {
  /// Saves one step with the checkpointer that `with_checkpointer` chooses. Returns the reason if
  /// it could not be saved.
  template <class O = tests::FakeSgd, Sink S, class... Parts>
  static std::string save(S& sink, const train::CheckpointOptions& checkpoint, Parts&... parts) {
    const train::FitOptions options{.checkpoint = checkpoint};
    const auto use = [](const train::CheckpointerRef& checkpointer) {
      (void)checkpointer.restore({.steps = 1});
      const train::State state{.position = {.step = 1}};
      const std::function<void(const train::VisitTensors&)> tensors =
          [](const train::VisitTensors& visit) { visit("model", {}); };
      checkpointer.save(train::Moment::end, {state, tensors});
      return checkpointer.problem();
    };
    return with_checkpointer<tests::FakeModel, O>(sink, options, use, parts...);
  }

  template <class S>
  static std::string problem_with(S sink) {
    return tests::problem_of([&] { (void)save(sink, {.every = 1}); });
  }

  /// Tells whether the store has the checkpoint of step 1.
  template <Store S>
  static bool is_saved(S& store) {
    return !CheckpointFolder{store, RunRecord{store}.run()}.steps().empty();
  }

  const tests::TemporaryDirectory temporary;
  const fs::path place = temporary / "place";
  const fs::path cache = temporary / "cache";
  const tests::Environment cache_home{"XDG_CACHE_HOME", cache.string()};
};

TEST_F(WithCheckpointerTest, SavesNothingUnlessItIsAskedTo) {
  sink::Directory store{place};
  EXPECT_EQ(save(store, {}), "");
  tests::FakeSink no_store;
  EXPECT_EQ(save(no_store, {}), "");
  EXPECT_FALSE(fs::exists(place));
}

TEST_F(WithCheckpointerTest, KeepsCheckpointsInADirectoryWithoutCopies) {
  sink::Directory store{place};
  EXPECT_EQ(save(store, {.every = 1}), "");
  EXPECT_TRUE(is_saved(store));
  sink::Any any{sink::Directory{temporary / "any"}};
  EXPECT_EQ(save(any, {.every = 1}), "");
  EXPECT_TRUE(is_saved(any));
  EXPECT_FALSE(fs::exists(cache));
}

TEST_F(WithCheckpointerTest, KeepsCheckpointsOfARemoteStoreOnThisMachineFirst) {
  sink::Memory store;
  const train::CheckpointOptions here{.every = 1, .directory = temporary / "here"};
  EXPECT_EQ(save(store, here), "");
  EXPECT_TRUE(is_saved(store));
  sink::Directory copies{temporary / "here"};
  EXPECT_FALSE(copies.list("").empty());
}

TEST_F(WithCheckpointerTest, CopiesOfTwoStoresLieInTwoFoldersOfTheCache) {
  const auto folder = [](const std::string& store) { return local_copies({}, store).root(); };
  EXPECT_EQ(folder("gs://bucket/a").parent_path(), cache / "seqtrain/checkpoints");
  EXPECT_EQ(folder("gs://bucket/a"), folder("gs://bucket/a"));
  EXPECT_NE(folder("gs://bucket/a"), folder("gs://bucket/b"));
  EXPECT_EQ(local_copies({.directory = place}, "gs://bucket/a").root(), place);
}

TEST_F(WithCheckpointerTest, ACheckpointerAmongTheArgumentsComesFirst) {
  struct Keeping {
    std::optional<train::SavedFit> restore(const train::FitPlan&) { return {}; }
    void save(train::Moment, const train::FitView&) { ++saves; }
    static std::string problem() { return "none of yours"; }
    int saves = 0;
  } checkpointer;
  Notes notes;
  sink::Directory store{place};
  EXPECT_EQ(save(store, {.every = 1}, notes, checkpointer), "none of yours");
  EXPECT_EQ(checkpointer.saves, 1);
  EXPECT_FALSE(fs::exists(place));
}

TEST_F(WithCheckpointerTest, ObserversHearWhatGoesWrongUnlessALogDoes) {
  Notes notes;
  sink::Directory store{place};
  (void)save(store, {.every = 1}, notes);
  (void)save(store, {.every = 1}, notes);
  ASSERT_EQ(notes.texts.size(), 1U);
  EXPECT_TRUE(notes.texts[0].starts_with("Resumed from")) << notes.texts[0];
  int logged = 0;
  (void)save(store, {.every = 1, .log = [&](const train::Notice&) { ++logged; }}, notes);
  EXPECT_EQ(logged, 1);
  EXPECT_EQ(notes.texts.size(), 1U);
}

TEST_F(WithCheckpointerTest, RefusesASinkThatKeepsNothing) {
  EXPECT_NE(problem_with(sink::Discard{}).find("keeps nothing"), std::string::npos);
  EXPECT_NE(problem_with(sink::Any{sink::Discard{}}).find("keeps nothing"), std::string::npos);
  EXPECT_NE(problem_with(tests::FakeSink{}).find("a seqtrain::Store"), std::string::npos);
}

TEST_F(WithCheckpointerTest, RefusesAnOptimizerWithoutState) {
  sink::Directory store{place};
  const auto problem = tests::problem_of([&] { (void)save<Stateless>(store, {.every = 1}); });
  EXPECT_NE(problem.find("an optimizer with state and load_state"), std::string::npos) << problem;
}

}  // namespace
}  // namespace seqtrain::checkpoint
