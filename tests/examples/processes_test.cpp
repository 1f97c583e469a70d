#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/dist_worlds.hpp"
#include "support/program.hpp"
#include "support/small_checkpoint.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

using tests::read_file;
using tests::run_command;

/// Runs mnli in several processes of this machine, as a launcher starts them.
class Together : public testing::Test {
 protected:
  void SetUp() override { SEQTRAIN_NEEDS_CHECKPOINT(); }

  [[nodiscard]] std::string program(const std::string& output, const std::string& more) const {
    const auto file = std::filesystem::path{SEQTRAIN_TESTS_DIR} / "../examples/data/nli/dev.jsonl";
    return SEQTRAIN_EXAMPLES_DIR "/mnli --model " + tests::small_checkpoint().string() +
           " --train-file " + file.string() + " --dev-file " + file.string() +
           " --fraction-of-train-data 0.1 --max-length 24 --batch-size 4 --threads 1" +
           " --output-dir " + (directory_ / output).string() + " --epochs 1 " + more;
  }

  /// Runs the program with flags for each rank. Returns what they print and the highest exit code.
  [[nodiscard]] tests::Ended run(const std::string& output, const std::vector<std::string>& flags,
                                 const std::string& environment = {}) const {
    const std::string port = std::to_string(tests::free_port());
    const std::string size = std::to_string(flags.size());
    std::string script = "code=0; ";
    for (std::size_t rank = 0; rank < flags.size(); ++rank) {
      const std::string number = std::to_string(rank);
      script += "RANK=" + number + " LOCAL_RANK=" + number + " WORLD_SIZE=" + size +
                " LOCAL_WORLD_SIZE=" + size + " MASTER_ADDR=127.0.0.1 MASTER_PORT=" + port + " " +
                environment + " " + program(output, flags[rank]) + " & p" + number + "=$!; ";
    }
    for (std::size_t rank = 0; rank < flags.size(); ++rank) {
      script += "wait $p" + std::to_string(rank) + " || code=$?; ";
    }
    return run_command("sh -c '" + script + "exit $code'");
  }

  [[nodiscard]] std::string model(const std::string& output) const {
    return read_file(directory_ / output / "model.pth");
  }

  tests::TemporaryDirectory directory_;
};

using SlowTogether = Together;

TEST_F(SlowTogether, LeaveTheBitsOfOneProcess) {
  const auto alone = run_command(program("alone", "--replicas 3"));
  ASSERT_EQ(alone.code, 0) << alone.output;
  for (const std::size_t size : {2u, 3u}) {
    const std::string output = "run" + std::to_string(size);
    const auto ended = run(output, std::vector<std::string>(size, "--replicas 3"));
    ASSERT_EQ(ended.code, 0) << ended.output;
    EXPECT_TRUE(model(output) == model("alone"));
    EXPECT_EQ(ended.output.find("Training with"), ended.output.rfind("Training with"));
  }
}

TEST_F(SlowTogether, LeaveTheBitsOfOneProcessWithATeacher) {
  ASSERT_EQ(run_command(program("teacher", "")).code, 0);
  const auto cache = [&](const std::string& name) {
    return "XDG_CACHE_HOME=" + (directory_ / name).string() + " ";
  };
  const std::string teacher = "--replicas 2 --teacher " + (directory_ / "teacher").string();
  ASSERT_EQ(run_command(cache("one") + program("alone", teacher)).code, 0);
  const auto ended = run("run", {2, teacher}, cache("two"));
  ASSERT_EQ(ended.code, 0) << ended.output;
  const std::string says = "training texts\n";
  EXPECT_NE(ended.output.find(says), std::string::npos) << ended.output;
  EXPECT_EQ(ended.output.find(says), ended.output.rfind(says)) << ended.output;
  EXPECT_TRUE(model("run") == model("alone"));
}

TEST_F(SlowTogether, LeaveTheBitsOfOneProcessWithAdapters) {
  const std::string lora = "--lora-rank 4 --lora-dropout 0.1 --replicas 2";
  ASSERT_EQ(run_command(program("alone", lora)).code, 0);
  const auto ended = run("run", {2, lora});
  ASSERT_EQ(ended.code, 0) << ended.output;
  EXPECT_TRUE(model("run") == model("alone"));
}

TEST_F(SlowTogether, ContinueARunWithAnotherNumber) {
  // A schedule that ends at --max-steps has other rates in a run that goes on.
  const std::string constant = "--lr-scheduler-type constant ";
  ASSERT_EQ(run_command(program("alone", constant + "--replicas 2")).code, 0);
  const std::string every = constant + "--checkpoint-every 2 --resume auto ";
  const auto first = run("run", {2, every + "--max-steps 4"});
  ASSERT_EQ(first.code, 0) << first.output;
  const auto rest = run_command(program("run", every));
  ASSERT_EQ(rest.code, 0) << rest.output;
  EXPECT_NE(rest.output.find("Resumed from"), std::string::npos) << rest.output;
  EXPECT_TRUE(model("run") == model("alone"));
}

TEST_F(Together, RefuseOtherFlagsOnAnotherRank) {
  const auto ended = run("run", {"", "--learning-rate 1e-3"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.output.find("rank 1: differs from rank 0: learning-rate (unset on rank 0, "
                              "0.001 on rank 1)"),
            std::string::npos)
      << ended.output;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "run"));
}

TEST_F(Together, RefuseMoreProcessesThanReplicas) {
  const auto ended = run("run", {2, "--replicas 1"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.output.find("2 processes cannot share 1 replicas"), std::string::npos)
      << ended.output;
}

TEST_F(Together, NeedAPlaceForCheckpointsOnSeveralMachines) {
  const auto ended = run("run", {2, ""}, "LOCAL_RANK=0 LOCAL_WORLD_SIZE=1");
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.output.find("--checkpoint-dir: is needed with more than one machine"),
            std::string::npos)
      << ended.output;
}

TEST_F(Together, RefuseHalfAnEnvironment) {
  const auto ended = run_command("RANK=0 " + program("run", ""));
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.output.find("WORLD_SIZE"), std::string::npos) << ended.output;
}

}  // namespace
}  // namespace seqtrain
