#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/storage/find_model.hpp>
#include <seqtrain/weights/adapter.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::storage {
namespace {

std::string chosen(const Names& names) {
  return model_names::choose_model(names).value_or("none");
}

TEST(ChooseModel, TakesAModelOrARun) {
  EXPECT_EQ(chosen({"config.json", "model.safetensors"}), "");
  EXPECT_EQ(chosen({"model.pth", "metrics.json", "model/config.json"}), "model/");
  EXPECT_EQ(chosen({"model.pth", "vocabulary.txt", "performance.json"}), "");
  EXPECT_EQ(chosen({"config.json", "model_20260101_000000/config.json"}), "");
  EXPECT_EQ(chosen({}), "none");
  EXPECT_EQ(chosen({"train.jsonl", "folder/config.json"}), "none");
}

TEST(ChooseModel, TakesTheNewestCompleteRun) {
  const Names names{"model_20260101_000000/manifest.json",
                    "model_20260101_000000/model/config.json",
                    "model_20260314_101500/manifest.json",
                    "model_20260314_101500/model/config.json",
                    "model_20260401_000000/model/config.json",  // its upload has not ended
                    "mnli_20270101_000000/model/config.json",
                    "model_20280101_000000/manifest.json",  // has no model
                    "notes.txt"};
  EXPECT_EQ(chosen(names), "model_20260314_101500/model/");
}

TEST(ChooseModel, GoesByTheDateInAName) {
  EXPECT_EQ(chosen({"fr_20260101_000000/vocabulary.txt", "fr_20260101_000000/manifest.json",
                    "de_20260102_000000/vocabulary.txt", "de_20260102_000000/manifest.json"}),
            "de_20260102_000000/");
  EXPECT_EQ(model_names::date_in("a_20250101_000000_b_20260102_030405/"), "20260102_030405");
  EXPECT_EQ(model_names::date_in("20260102_03040"), "");
}

TEST(ChooseModel, RunDirectoriesNeedNoManifest) {
  EXPECT_EQ(
      chosen({"mnli_20260101_000000/model/config.json", "mnli_20260102_000000/model/config.json",
              "mnli_20260103_000000/train_log.jsonl"}),
      "mnli_20260102_000000/model/");
}

void write(const std::filesystem::path& file) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream{file} << "{}";
}

TEST(FindModel, LooksIntoDirectories) {
  const tests::TemporaryDirectory directory;
  const log::Log log;
  write(directory / "runs/model_20260101_000000/model/config.json");
  write(directory / "runs/model_20260101_000000/manifest.json");
  const auto model = directory / "runs/model_20260101_000000/model";
  for (const auto& place : {directory / "runs", directory / "runs/", model.parent_path(), model}) {
    const auto found = find_model(place.string(), {log});
    EXPECT_EQ(found.directory, model);
    EXPECT_EQ(found.place, model.string());
  }
}

/// Writes an adapter whose base has this place.
void write_adapter(const std::filesystem::path& directory, const std::string& base) {
  std::filesystem::create_directories(directory);
  tests::write_file(directory / "adapter_config.json",
                    weights::adapter_config_text({.lora = {.targets = {"query"}}, .base = base}));
}

TEST(FindModel, FindsAnAdapterWhoseBaseIsADirectory) {
  const tests::TemporaryDirectory directory;
  write_adapter(directory.path(), "/somewhere/base");
  const auto found = find_model(directory.path().string(), {log::Log{}});
  EXPECT_EQ(found.directory, directory.path());
  EXPECT_EQ(found.base, "");
}

TEST(FindModel, SaysHowToContinueAStoppedRun) {
  const tests::TemporaryDirectory directory;
  write(directory / "mine/train_log.jsonl");
  const std::string place = (directory / "mine").string();
  const auto problem = tests::problem_of([&] { find_model(place, {log::Log{}}); });
  EXPECT_EQ(problem, place +
                         ": is a run that was stopped before it had a model; to continue it: "
                         "seqtrain train with the same flags, --output-dir " +
                         place + " --resume auto");
}

TEST(FindModel, SaysThatThereIsNone) {
  const tests::TemporaryDirectory directory;
  const log::Log log;
  const std::string place = directory.path().string();
  EXPECT_NE(tests::problem_of([&] {
              find_model(place, {log});
            }).find(place + ": holds no model and no complete run"),
            std::string::npos);
  EXPECT_NE(
      tests::problem_of([&] { find_model(place + "/absent", {log}); }).find("no such directory"),
      std::string::npos);
}

}  // namespace
}  // namespace seqtrain::storage
