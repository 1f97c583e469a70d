#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/checkpoint/checkpoint_folder.hpp>
#include <seqtrain/checkpoint/checkpoint_upload.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/sink/memory.hpp>

#include "support/problem_of.hpp"
#include "support/snapshots.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::checkpoint {
namespace {

using Steps = std::vector<std::int64_t>;

template <class S>
void put(S& store, const std::string& key) {
  store.put(key, std::as_bytes(std::span{key}));
}

template <class S>
void put_checkpoint(S& store, const CheckpointFolder<S>& folder, std::int64_t step) {
  put(store, folder.at(step, "model.safetensors"));
  put(store, folder.at(step, "manifest.json"));
}

TEST(CheckpointFolder, ListsTheCheckpointsOfItsRunOnly) {
  sink::Memory store;
  const CheckpointFolder folder{store, "exp"};
  for (const std::int64_t step : {5, 10, 9}) put_checkpoint(store, folder, step);
  put_checkpoint(store, CheckpointFolder{store, "exp/lr2"}, 900);  // a run nested in this one
  put_checkpoint(store, CheckpointFolder{store, "exp2"}, 700);
  put(store, "checkpoint-600/manifest.json");
  put(store, "exp/checkpoint-11/model.safetensors");  // an upload that has not ended
  put(store, "exp/checkpoint-12/deeper/manifest.json");
  EXPECT_EQ(folder.steps(), (Steps{5, 9, 10}));
}

TEST(CheckpointFolder, PrunesItsRunOnly) {
  sink::Memory store;
  const CheckpointFolder folder{store, "exp"};
  const std::vector<std::string> others{"exp/lr2/checkpoint-1/manifest.json", "exp/notes.txt",
                                        "exp2/checkpoint-1/manifest.json",
                                        "checkpoint-1/manifest.json", "run.json"};
  for (const auto& key : others) put(store, key);
  for (const std::int64_t step : {1, 2, 3, 4, 6000}) put_checkpoint(store, folder, step);
  put(store, "exp/checkpoint-2/model.safetensors.parts-7-0");
  put(store, "exp/checkpoint-50/model.safetensors");  // its upload never ended
  folder.prune(4, 2, 1);
  EXPECT_EQ(folder.steps(), (Steps{1, 3, 4}));
  EXPECT_EQ(store.list("").size(), others.size() + 3 * 2);
  for (const auto& key : others) EXPECT_TRUE(store.get(key)) << key;
}

TEST(CheckpointFolder, PrunesWhatAKilledWriterLeft) {
  const tests::TemporaryDirectory temporary;
  sink::Directory store{temporary.path()};
  const CheckpointFolder folder{store, "run"};
  put_checkpoint(store, folder, 3);
  put_checkpoint(store, folder, 4);
  tests::write_file(store.writable_path("run/checkpoint-2/model.safetensors.partial"), "half");
  std::filesystem::create_directory(temporary / "run/checkpoint-1");  // its files are removed
  folder.prune(4, 1);
  EXPECT_EQ(folder.steps(), (Steps{4}));
  EXPECT_TRUE(store.leftovers("").empty());
  EXPECT_FALSE(std::filesystem::exists(temporary / "run/checkpoint-2"));
  EXPECT_FALSE(std::filesystem::exists(temporary / "run/checkpoint-1"));
}

TEST(CheckpointFolder, RemovesTheManifestFirst) {
  struct Recorder : sink::Memory {
    void remove(std::string_view key) {
      removed.emplace_back(key);
      sink::Memory::remove(key);
    }
    std::vector<std::string> removed = {};
  };
  Recorder store;
  const CheckpointFolder folder{store, "run"};
  put_checkpoint(store, folder, 4);
  folder.remove(4);
  EXPECT_EQ(store.removed.front(), "run/checkpoint-4/manifest.json");
  EXPECT_TRUE(store.list("").empty());
}

namespace fs = std::filesystem;

struct CheckpointSearchTest : testing::Test {
  using Search = CheckpointSearch<sink::Directory, sink::Memory>;

  void write(std::int64_t step, const std::string& run = "run") {
    tests::write_snapshot(here, CheckpointFolder{here, run}.at(step), tests::some_snapshot(step),
                          {.id = run});
  }

  /// Writes a checkpoint that only the store has.
  void write_there(std::int64_t step, const std::string& run = "run") {
    write(step, run);
    upload_checkpoint(here, there, run, step);
    CheckpointFolder{here, run}.remove(step);
  }

  fs::path model_of(std::int64_t step) const { return here.path_of(key_of_model(step)); }
  static std::string key_of_model(std::int64_t step) {
    return "run/" + train::checkpoint_name(step) + "/model.safetensors";
  }

  /// Returns the step of the newest checkpoint, or -1.
  static std::int64_t newest(const Search& search, const std::string& run = "run") {
    const auto found = search.newest(run);
    return found ? found->state().position.step : -1;
  }

  const Search::Log log = [this](const std::string& text) { said.push_back(text); };
  const tests::TemporaryDirectory temporary;
  sink::Directory here{temporary / "here"};
  sink::Memory there;
  std::vector<std::string> said;
  const Search local{here, nullptr, log};
  const Search both{here, &there, log};
};

TEST_F(CheckpointSearchTest, FindsNothingWhereThereIsNothing) {
  EXPECT_EQ(newest(local), -1);
  EXPECT_EQ(newest(both), -1);
  EXPECT_EQ(both.find("auto", ""), nullptr);
  EXPECT_FALSE(fs::exists(temporary / "here"));
}

TEST_F(CheckpointSearchTest, FindsTheNewestCompleteOneAndNamesTheOthers) {
  for (const std::int64_t step : {5, 10, 9}) write(step);
  write(700, "run/nested");
  EXPECT_EQ(newest(local), 10);
  EXPECT_TRUE(said.empty());
  fs::resize_file(model_of(10), 20);
  here.remove("run/checkpoint-9/manifest.json");
  EXPECT_EQ(newest(local), 5);
  ASSERT_EQ(said.size(), 1U);  // one without a manifest is no checkpoint
  EXPECT_NE(said[0].find("checkpoint-10 is not used"), std::string::npos);
  EXPECT_NE(said[0].find("model.safetensors"), std::string::npos);
}

TEST_F(CheckpointSearchTest, CopiesARemoteOne) {
  write(5);
  write_there(7);
  EXPECT_EQ(newest(both), 7);
  EXPECT_EQ(newest(local), 7);
  EXPECT_TRUE(said.empty());
}

TEST_F(CheckpointSearchTest, PrefersTheLocalCopy) {
  write(7);
  upload_checkpoint(here, there, "run", 7);
  there.remove(key_of_model(7));  // nobody looks
  EXPECT_EQ(newest(both), 7);
  EXPECT_TRUE(said.empty());
}

TEST_F(CheckpointSearchTest, MendsABrokenLocalCopy) {
  write(7);
  upload_checkpoint(here, there, "run", 7);
  fs::resize_file(model_of(7), 20);
  EXPECT_EQ(newest(both), 7);
  EXPECT_EQ(said.size(), 1U);
  EXPECT_EQ(newest(local), 7);
  EXPECT_EQ(said.size(), 1U);
}

TEST_F(CheckpointSearchTest, UsesTheOneBeforeABrokenRemoteOne) {
  write(5);
  write_there(7);
  there.remove(key_of_model(7));
  EXPECT_EQ(newest(both), 5);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("checkpoint-7 is not used"), std::string::npos) << said[0];
  EXPECT_NE(said[0].find("model.safetensors: is missing"), std::string::npos) << said[0];
}

TEST_F(CheckpointSearchTest, ReadsADirectoryThatTheUserHasNamed) {
  write(5);
  EXPECT_EQ(local.at(here.path_of("run/checkpoint-5"))->state().position.step, 5);
  fs::resize_file(model_of(5), 20);
  EXPECT_THROW((void)local.at(here.path_of("run/checkpoint-5")), InputError);
  const auto problem = tests::problem_of([&] { (void)local.at(here.path_of("run/checkpoint-6")); });
  EXPECT_NE(problem.find("checkpoint-6/manifest.json: is missing"), std::string::npos) << problem;
}

}  // namespace
}  // namespace seqtrain::checkpoint
