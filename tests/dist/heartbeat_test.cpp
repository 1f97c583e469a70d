#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <support/dist_worlds.hpp>
#include <support/temporary_directory.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <seqtrain/core/environment.hpp>
#include <seqtrain/dist/group.hpp>
#include <seqtrain/dist/heartbeat.hpp>

namespace seqtrain::dist {
namespace {

/// The body of a rank that `Processes` starts as a process: it exchanges data until an error ends
/// it. Rank 1 throws an error if the directory has a file `throw`.
TEST(HeartbeatProcess, DISABLED_ExchangesUntilItEnds) {
  const std::filesystem::path directory = process_environment("SEQTRAIN_TEST_DIRECTORY").value();
  const auto own = std::to_string(World::from_environment().rank);
  try {
    auto group = Group::connect(World::from_environment());
    const std::vector<std::int64_t> sizes(static_cast<std::size_t>(group.size()), 1000);
    try {
      for (int round = 0;; ++round) {
        if (round == 3) tests::write_file(directory / ("ready." + own), "");
        if (own == "1" && exists(directory / "throw")) throw Error{"the disk is full"};
        const auto in = at::full({1000 * group.size()}, 1.0, at::kFloat);
        group.all_to_all(at::empty_like(in), in, sizes, sizes).wait();
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
      }
    } catch (const std::exception& error) {
      group.fail_note(error.what());
      throw;
    }
  } catch (const std::exception& error) {
    tests::write_file(directory / ("error." + own), error.what());
  }
}

/// Three processes that exchange data.
class Processes {
 public:
  Processes() {
    const auto port = std::to_string(tests::free_port());
    for (int rank = 0; rank < size; ++rank) pids_.push_back(start(std::to_string(rank), port));
    for (int rank = 0; rank < size; ++rank) {
      while (!exists(directory_ / ("ready." + std::to_string(rank)))) nap();
    }
  }
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  ~Processes() {
    for (const auto pid : pids_) ::kill(pid, SIGKILL);
    for (const auto pid : pids_) ::waitpid(pid, nullptr, 0);
  }

  void signal(int rank, int number) { ::kill(pids_[static_cast<std::size_t>(rank)], number); }
  void let_rank_1_throw() { tests::write_file(directory_ / "throw", ""); }

  /// Returns the error with which a rank ended, or "" if it has not ended within 30 s.
  [[nodiscard]] std::string error(int rank) const {
    const auto deadline = Clock::now() + std::chrono::seconds{30};
    const auto file = directory_ / ("error." + std::to_string(rank));
    while (tests::read_file(file).empty() && Clock::now() < deadline) nap();
    return tests::read_file(file);
  }

 private:
  static constexpr int size = 3;

  static void nap() { std::this_thread::sleep_for(std::chrono::milliseconds{20}); }

  [[nodiscard]] pid_t start(const std::string& rank, const std::string& port) const {
    std::vector<std::string> words{"SEQTRAIN_TEST_DIRECTORY=" + directory_.path().string(),
                                   "RANK=" + rank,
                                   "WORLD_SIZE=" + std::to_string(size),
                                   "LOCAL_RANK=" + rank,
                                   "LOCAL_WORLD_SIZE=" + std::to_string(size),
                                   "MASTER_ADDR=127.0.0.1",
                                   "MASTER_PORT=" + port,
                                   "OMP_NUM_THREADS=1"};
    std::vector<char*> variables;
    for (auto& word : words) variables.push_back(word.data());
    variables.push_back(nullptr);
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::execle("/proc/self/exe", "dist_test", "--gtest_also_run_disabled_tests",
               "--gtest_filter=HeartbeatProcess.*", "--gtest_brief=1", nullptr, variables.data());
      ::_exit(127);
    }
    return pid;
  }

  tests::TemporaryDirectory directory_;
  std::vector<pid_t> pids_;
};

void expect_start(const std::string& text, const std::string& start) {
  EXPECT_TRUE(text.starts_with(start)) << text;
}

TEST(SlowHeartbeat, NamesARankThatWasKilled) {
  Processes processes;
  processes.signal(2, SIGKILL);
  expect_start(processes.error(0), "rank 2 of 3 (");
  expect_start(processes.error(1), "rank 2 of 3 (");
}

TEST(Heartbeat, NamesRank0IfItsStoreIsGone) {
  Processes processes;
  processes.signal(0, SIGKILL);
  expect_start(processes.error(1), "rank 0 of 3 (");
  expect_start(processes.error(2), "rank 0 of 3 (");
}

// No connection is closed, as if a host were lost.
TEST(SlowHeartbeat, NamesARankThatIsSilent) {
  Processes processes;
  processes.signal(1, SIGSTOP);
  expect_start(processes.error(0), "rank 1 of 3 (");
  expect_start(processes.error(2), "rank 1 of 3 (");
}

TEST(SlowHeartbeat, FindsOutThatTheStoreIsSilent) {
  Processes processes;
  processes.signal(0, SIGSTOP);
  expect_start(processes.error(1), "rank 0 of 3 (");
  expect_start(processes.error(2), "rank 0 of 3 (");
}

TEST(Heartbeat, PassesOnWhyARankEnds) {
  Processes processes;
  processes.let_rank_1_throw();
  for (const int rank : {0, 2}) {
    const auto text = processes.error(rank);
    expect_start(text, "rank 1 of 3 (");
    EXPECT_TRUE(text.ends_with("): the disk is full")) << text;
  }
  EXPECT_EQ(processes.error(1), "the disk is full");
}

}  // namespace
}  // namespace seqtrain::dist
