#pragma once

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/program.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::tests {

inline int kills_wanted() {
  const char* const wanted = std::getenv("SEQTRAIN_CHAOS_KILLS");
  return wanted == nullptr ? 3 : std::atoi(wanted);
}

/// Runs `mnli` with disturbances and compares it with an undisturbed run. SEQTRAIN_CHAOS_KILLS is
/// the number of signals (100 in `make chaos`).
class Chaos : public testing::Test {
 protected:
  /// Makes the pairs and the undisturbed run, once for all tests.
  void SetUp() override {
    SEQTRAIN_NEEDS_CHECKPOINT();
    if (whole_ms_ > 0) return;
    const std::filesystem::path nli{SEQTRAIN_TESTS_DIR "/../examples/data/nli/train.jsonl"};
    std::ifstream all{nli};
    std::ofstream some{directory_ / "pairs.jsonl"};
    std::string line;
    for (int i = 0; i < 60 && std::getline(all, line); ++i) some << line << '\n';
    some.close();
    const auto start = std::chrono::steady_clock::now();
    ASSERT_EQ(run_to_the_end("whole"), 0) << read_file(directory_ / "whole.log");
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    whole_ms_ = elapsed.count();
    ASSERT_EQ(losses("whole").size(), 16U);
  }

  /// Removes what the test wrote, because a run takes hundreds of megabytes. The undisturbed run
  /// stays.
  void TearDown() override {
    for (const auto& entry : std::filesystem::directory_iterator{directory_.path()}) {
      const std::string name = entry.path().filename().string();
      if (name == "pairs.jsonl" || name.starts_with("whole")) continue;
      std::filesystem::remove_all(entry.path());
    }
  }

  [[nodiscard]] std::vector<std::string> command(const std::string& name,
                                                 const std::string& workers = "1") const {
    const std::string pairs = (directory_ / "pairs.jsonl").string();
    std::vector<std::string> words{std::string{SEQTRAIN_EXAMPLES_DIR} + "/mnli",
                                   "--model",
                                   default_checkpoint().string(),
                                   "--train-file",
                                   pairs,
                                   "--dev-file",
                                   pairs,
                                   "--output-dir",
                                   (directory_ / name).string(),
                                   "--checkpoint-dir",
                                   checkpoint_dir(name),
                                   "--epochs",
                                   "2",
                                   "--checkpoint-every",
                                   "3",
                                   "--batch-size",
                                   "4",
                                   "--gradient-accumulation-steps",
                                   "2",
                                   "--max-length",
                                   "32",
                                   "--threads",
                                   "2",
                                   "--log-every",
                                   "1",
                                   "--best-model",
                                   "--dataloader-num-workers",
                                   workers};
    words.insert(words.end(), more_.begin(), more_.end());
    return words;
  }

  /// Starts a program with its output in `log`.
  static pid_t start(const std::vector<std::string>& words, const std::filesystem::path& log) {
    std::vector<char*> arguments;
    for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                       0666);
    ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t child = -1;
    const int problem =
        ::posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (problem != 0) throw std::runtime_error{"cannot start " + words[0]};
    return child;
  }

  /// Returns the exit code, or 128 + the number of the signal that ended the process.
  static int code_of(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  static int wait_for(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return code_of(status);
  }

  static bool has_ended(pid_t child, int& code) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == 0) return false;
    code = code_of(status);
    return true;
  }

  int run_to_the_end(const std::string& name) {
    return wait_for(start(command(name), directory_ / (name + ".log")));
  }

  /// Sends `signals` signals at random moments to a sequence of runs. Restarts each run until it
  /// ends by itself, and compares it with an undisturbed run.
  void disturb(const std::string& name, int signal, int signals) {
    std::mt19937 random{static_cast<unsigned>(signals)};
    int runs = 0;
    for (int sent = 0; sent < signals && !HasFailure(); ++runs) {
      const std::string one = name + "-" + std::to_string(runs);
      sent += disturb_one(one, signal, signals - sent, random);
      if (HasFailure()) break;
      expect_same(one);
      forget(one);
      std::printf("%s: %d signals survived\n", one.c_str(), sent);
      std::fflush(stdout);
    }
  }

  /// Disturbs one run in this way. Returns the number of signals, at most `most`.
  int disturb_one(const std::string& name, int signal, int most, std::mt19937& random) {
    std::uniform_int_distribution<int> milliseconds{0, static_cast<int>(whole_ms_ * 0.9)};
    int sent = 0;
    for (int starts = 0; starts < 20 * (most + 1); ++starts) {
      const pid_t child =
          start(command(name, std::to_string(starts % 3)), directory_ / (name + ".log"));
      int code = 0;
      if (sent == most) {
        code = wait_for(child);
      } else if (!ends_within(std::chrono::milliseconds{milliseconds(random)}, child, code)) {
        ::kill(child, signal);
        code = wait_for(child);
        ++sent;
      }
      if (code == 0) return sent;
      EXPECT_TRUE(code == 128 + signal || (signal == SIGTERM && code == 3))
          << code << "\n"
          << read_file(directory_ / (name + ".log"));
      if (HasFailure()) return sent;
      between_starts(name);
    }
    ADD_FAILURE() << "the run never came to its end";
    return sent;
  }

  static bool ends_within(std::chrono::milliseconds time, pid_t child, int& code) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
      if (has_ended(child, code)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    return has_ended(child, code);
  }

  /// Returns the loss of each step, from the last record of the step in the log.
  [[nodiscard]] std::vector<std::string> losses(const std::string& name) const {
    std::istringstream log{read_file(directory_ / name / "train_log.jsonl")};
    const std::regex step{R"x("event":"step".*("step":\d+,"epoch":\d+,"loss":[^,]+))x"};
    std::vector<std::string> found;
    std::smatch match;
    for (std::string line; std::getline(log, line);) {
      if (std::regex_search(line, match, step)) found.push_back(match[1]);
    }
    return found;
  }

  virtual void expect_same(const std::string& name) {
    EXPECT_EQ(losses(name), losses(undisturbed_));
    for (const auto& file : {std::string{"model.pth"}, "model/" + weights_}) {
      EXPECT_TRUE(read_file(directory_ / name / file) ==
                  read_file(directory_ / undisturbed_ / file));
    }
  }

  /// Removes the files of a run.
  virtual void forget(const std::string& name) {
    std::filesystem::remove_all(directory_ / name);
    std::filesystem::remove_all(checkpoint_dir(name));
  }

  /// Returns the place of a run's checkpoints.
  [[nodiscard]] virtual std::string checkpoint_dir(const std::string& name) const {
    return (directory_ / (name + ".checkpoints")).string();
  }
  /// Runs between a run's end and the next start.
  virtual void between_starts(const std::string&) {}

  std::vector<std::string> more_;  // flags
  std::string undisturbed_ = "whole";
  std::string weights_ = "model.safetensors";
  static inline const TemporaryDirectory directory_;
  static inline double whole_ms_ = 0;  // time of the undisturbed run
};

}  // namespace seqtrain::tests
