#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <mutex>
#include <regex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <seqtrain/run/run_directory.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::run {
namespace {

namespace fs = std::filesystem;

/// While this object exists, `call` gets each path that this process forces to the disk.
class SyncedPaths {
 public:
  explicit SyncedPaths(std::function<void(const fs::path&)> call) {
    const std::lock_guard guard{mutex};
    heard = std::move(call);
  }
  SyncedPaths(const SyncedPaths&) = delete;
  SyncedPaths& operator=(const SyncedPaths&) = delete;
  ~SyncedPaths() {
    const std::lock_guard guard{mutex};
    heard = {};
  }

  static void tell(int file) {
    const std::lock_guard guard{mutex};
    if (heard) heard(fs::read_symlink("/proc/self/fd/" + std::to_string(file)));
  }

 private:
  static inline std::mutex mutex;
  static inline std::function<void(const fs::path&)> heard;
};

}  // namespace
}  // namespace seqtrain::run

/// Replaces the system's function, and calls it.
extern "C" int fsync(int file) {
  seqtrain::run::SyncedPaths::tell(file);
  return static_cast<int>(::syscall(SYS_fsync, file));
}

namespace seqtrain::run {
namespace {

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

TEST_F(RunDirectoryTest, IsLockedAgainstASecondProgram) {
  const RunDirectory run{{.path = path}}, second{{.path = path}};
  {
    const auto held = run.lock();
    const auto problem = tests::problem_of([&] { (void)second.lock(); });
    EXPECT_EQ(problem, path.string() +
                           ": another program writes its run here; wait for it or name another "
                           "directory");
    run.create();
    EXPECT_TRUE(fs::exists(path / ".lock"));
  }
  tests::write_file(path / "metrics.json", "{}");  // the first run has ended
  const auto problem = tests::problem_of([&] { (void)second.lock(); });
  EXPECT_NE(problem.find("already holds a run: metrics.json is there"), std::string::npos)
      << problem;
  EXPECT_NO_THROW((void)RunDirectory({.path = path, .overwrite = true}).lock());
}

TEST_F(RunDirectoryTest, RemovesCheckpointsOnlyWhereItIsTold) {
  const auto checkpoint = path / "checkpoints/run_1/checkpoint-5/manifest.json";
  fs::create_directories(checkpoint.parent_path());
  tests::write_file(checkpoint, "{}");
  const auto model = path / "checkpoints/all-MiniLM-L6-v2/model.safetensors";
  fs::create_directories(model.parent_path());
  tests::write_file(model, "");
  tests::write_file(path / "checkpoints/run.json", "{}");
  tests::write_file(path / "checkpoints/.lock", "");
  tests::write_file(path / "published.json", "{}");
  const RunDirectory run{{.path = path, .overwrite = true}};
  run.create();
  EXPECT_TRUE(fs::exists(checkpoint));
  EXPECT_TRUE(fs::exists(path / "published.json"));
  run.remove_checkpoints_of("run_2");
  EXPECT_TRUE(fs::exists(checkpoint));
  run.remove_checkpoints();
  EXPECT_FALSE(fs::exists(path / "published.json"));
  EXPECT_EQ(entries(path / "checkpoints"), 3);
  EXPECT_TRUE(fs::exists(model));
  EXPECT_TRUE(fs::exists(path / "checkpoints/.lock"));
}

TEST_F(RunDirectoryTest, RefusesWhatCannotBeWritten) {
  const auto file = tests::write_file(directory / "file", "");
  EXPECT_THROW(RunDirectory{{.path = file}}, InputError);
  EXPECT_THROW(RunDirectory{{.path = file / "run"}}, InputError);
  EXPECT_THROW(RunDirectory{{.path = ""}}, InputError);
}

TEST_F(RunDirectoryTest, RefusesModelNamesThatAreNoFreeName) {
  for (const char* name :
       {"", ".", "..", "a/b", "/model.pth", "../model.pth", "dir/", "model", "metrics.json",
        "model.old", "model.partial", "train_log.jsonl.partial"}) {
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

TEST_F(RunDirectoryTest, ForcesAModelToTheDiskBeforeItTakesItsPlaceAndThePlaceAfter) {
  const RunDirectory run{{.path = path}};
  save_model(run, "first");
  std::vector<std::string> synced;
  const SyncedPaths paths{[&](const fs::path& place) {
    std::string text = place.lexically_relative(fs::canonical(path)).string();
    if (fs::exists(run.model() / "second")) text += " with the new model";
    synced.push_back(text);
  }};
  save_model(run, "second");
  EXPECT_EQ(synced, (std::vector<std::string>{"model.partial/second", "model.partial",
                                              ". with the new model"}));
}

TEST_F(RunDirectoryTest, PutsBackTheModelOfARunThatWasKilledWhileItWasReplaced) {
  const RunDirectory run{{.path = path}};
  save_model(run, "first");
  fs::rename(run.model(), path / "model.old");
  EXPECT_THROW(RunDirectory{{.path = path}}, InputError);
  run.create();
  EXPECT_EQ(tests::read_file(run.model() / "first"), "first");
  EXPECT_EQ(entries(path), 1);
  fs::create_directory(path / "model.old");
  run.create();
  EXPECT_EQ(tests::read_file(run.model() / "first"), "first");
}

TEST_F(RunDirectoryTest, RemovesWhatAKilledRunLeftHalfWritten) {
  const RunDirectory run{{.path = path}};
  fs::create_directories(path / "model.partial");
  tests::write_file(path / "model.partial/config.json", "");
  for (const char* name : {"model.pth.partial", "metrics.json.partial", "predictions.jsonl.partial",
                           "report.html.partial", "train_log.jsonl.partial.partial"}) {
    tests::write_file(path / name, "");
  }
  run.create();
  EXPECT_TRUE(fs::is_empty(path));
}

TEST_F(RunDirectoryTest, LeavesEveryOtherFileAlone) {
  const RunDirectory run{{.path = path}};
  fs::create_directories(path / "metrics.json.partial");
  const std::vector<const char*> names{
      "train_log.jsonl.partial",  // a resumed run continues it
      "notes.partial",           "other.pth.partial", "model.pth.a.partial",
      "model.pth.partial.old",   "model.pth"};
  for (const char* name : names) tests::write_file(path / name, "");
  run.create();
  EXPECT_EQ(entries(path), static_cast<std::ptrdiff_t>(names.size() + 1));
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
}  // namespace seqtrain::run
