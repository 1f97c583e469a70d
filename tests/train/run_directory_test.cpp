#include <chrono>
#include <filesystem>
#include <regex>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/train/run_directory.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain::train {
namespace {

namespace fs = std::filesystem;

struct RunDirectoryTest : testing::Test {
  void save_model(const RunDirectory& run, const std::string& text) {
    run.replace_model([&](const fs::path& model) { tests::write_file(model / text, text); });
  }

  std::ptrdiff_t entries(const fs::path& where) {
    return std::distance(fs::directory_iterator{where}, {});
  }

  const tests::TemporaryDirectory directory;
  const fs::path path = directory / "runs/one";
};

TEST_F(RunDirectoryTest, NamesItsFilesAndCreatesNothing) {
  const RunDirectory run{{.path = path, .model_name = "best.pt"}};
  EXPECT_EQ(run.model(), path / "model");
  EXPECT_EQ(run.state_dict(), path / "best.pt");
  EXPECT_EQ(run.metrics(), path / "metrics.json");
  EXPECT_EQ(run.log(), path / "train_log.jsonl");
  EXPECT_TRUE(fs::is_empty(directory.path()));
  run.create();
  EXPECT_TRUE(fs::is_empty(path));
}

TEST_F(RunDirectoryTest, RefusesADirectoryThatHoldsARun) {
  fs::create_directories(path);
  tests::write_file(path / "notes.txt", "not a run");
  EXPECT_NO_THROW(RunDirectory{{.path = path}});
  for (const char* name : {"model", "model.pth", "metrics.json", "train_log.jsonl"}) {
    tests::write_file(path / name, "");
    EXPECT_THROW(RunDirectory{{.path = path}}, InputError) << name;
    EXPECT_NO_THROW(RunDirectory({.path = path, .overwrite = true})) << name;
    fs::remove(path / name);
  }
}

TEST_F(RunDirectoryTest, RefusesWhatCannotBeWritten) {
  const auto file = tests::write_file(directory / "file", "");
  EXPECT_THROW(RunDirectory{{.path = file}}, InputError);
  EXPECT_THROW(RunDirectory{{.path = file / "run"}}, InputError);
  EXPECT_THROW(RunDirectory{{.path = ""}}, InputError);
}

TEST_F(RunDirectoryTest, RefusesModelNamesThatAreNoFreeName) {
  for (const char* name :
       {"", ".", "..", "a/b", "/model.pth", "../model.pth", "dir/", "model", "metrics.json"}) {
    EXPECT_THROW(RunDirectory({.path = path, .model_name = name}), InputError) << name;
  }
}

TEST_F(RunDirectoryTest, ReplacesAModelAsAWhole) {
  const RunDirectory run{{.path = path}};
  save_model(run, "first");
  EXPECT_EQ(tests::read_file(run.model() / "first"), "first");
  save_model(run, "second");
  EXPECT_EQ(tests::read_file(run.model() / "second"), "second");
  EXPECT_EQ(entries(run.model()), 1);
  EXPECT_EQ(entries(path), 1);
}

TEST_F(RunDirectoryTest, KeepsTheOldModelWhereSavingFails) {
  const RunDirectory run{{.path = path}};
  save_model(run, "first");
  const auto fail = [](const fs::path& model) {
    tests::write_file(model / "half", "");
    throw Error{"the disk is full"};
  };
  EXPECT_THROW(run.replace_model(fail), Error);
  EXPECT_EQ(tests::read_file(run.model() / "first"), "first");
  EXPECT_EQ(entries(path), 1);
}

TEST_F(RunDirectoryTest, TurnsWhatTheFileSystemSaysIntoAnError) {
  const RunDirectory run{{.path = directory / "late"}};
  tests::write_file(directory / "late", "came in between");
  EXPECT_THROW(run.create(), Error);
  EXPECT_THROW(save_model(run, "first"), Error);
}

TEST(RunDirectory, DatedNames) {
  const auto now = std::chrono::system_clock::now();
  EXPECT_TRUE(std::regex_match(default_run_directory("mnli", now).string(),
                               std::regex{R"(runs/mnli_\d{8}_\d{6})"}));
  EXPECT_TRUE(std::regex_match(dated_model_folder(now), std::regex{R"(model_\d{8}_\d{6})"}));
}

}  // namespace
}  // namespace seqtrain::train
