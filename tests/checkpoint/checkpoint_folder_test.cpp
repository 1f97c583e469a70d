#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/checkpoint/checkpoint_folder.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/sink/memory.hpp>

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
  put_checkpoint(store, CheckpointFolder{store, ""}, 600);
  put(store, "exp/checkpoint-11/model.safetensors");  // an upload that has not ended
  put(store, "exp/checkpoint-12/deeper/manifest.json");
  EXPECT_EQ(folder.steps(), (Steps{5, 9, 10}));
  EXPECT_EQ((CheckpointFolder{store, ""}.steps()), (Steps{600}));
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

}  // namespace
}  // namespace seqtrain::checkpoint
