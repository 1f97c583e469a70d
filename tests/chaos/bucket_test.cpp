#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "support/fake_s3.hpp"
#include "support/fault_server.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::tests {
namespace {

struct Ended {
  int status = -1;
  std::string output;
};

/// A cloud in this process: its service, the addresses of its bucket, and the environment in which
/// a program finds it.
struct Google {
  FaultServer server;
  std::string bucket = "gs://bucket/";
  std::string environment = "STORAGE_EMULATOR_HOST=http://127.0.0.1:" + server.port();
};
struct Amazon {
  FaultyServer<FakeS3> server;
  std::string bucket = "s3://bucket/";
  std::string environment =
      "AWS_NO_SIGN_REQUEST=YES AWS_ENDPOINT_URL=http://127.0.0.1:" + server.port();
};

/// Runs the program as on a new machine: its cache directory is empty, and is removed afterwards.
template <class Cloud>
Ended run(const Cloud& cloud, const std::string& arguments) {
  const TemporaryDirectory machine;
  const std::string command =
      "exec env no_proxy=127.0.0.1 XDG_CACHE_HOME=" + machine.path().string() + " " +
      cloud.environment + " " + SEQTRAIN_BUCKET_PROGRAM " " + cloud.bucket + arguments + " 2>&1";
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error{"cannot run " + command};
  Ended ended;
  std::array<char, 4096> part{};
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), pipe)) {
    ended.output.append(part.data(), size);
  }
  ended.status = ::pclose(pipe);
  return ended;
}

std::string weight_in(const std::string& output) {
  const auto begin = output.find("weight ");
  return begin == std::string::npos ? output : output.substr(begin);
}

template <class Cloud>
class ARunInABucket : public testing::Test {};
using Clouds = testing::Types<Google, Amazon>;
TYPED_TEST_SUITE(ARunInABucket, Clouds);

TYPED_TEST(ARunInABucket, IsKilledAndResumedOnEmptyMachines) {
  TypeParam cloud;
  const auto whole = run(cloud, "whole");
  ASSERT_EQ(whole.status, 0) << whole.output;
  int kills = 0, resumed = 0;
  Ended ended;
  do {
    // If the machine is too slow to save anything in these steps, the program gets more of them.
    ended = run(cloud, "run " + std::to_string(3 + kills / 6));
    resumed += ended.output.find("Resumed from ") != std::string::npos ? 1 : 0;
    kills += WIFSIGNALED(ended.status) && WTERMSIG(ended.status) == SIGKILL ? 1 : 0;
  } while (ended.status != 0 && kills < 50 && WIFSIGNALED(ended.status));
  ASSERT_EQ(ended.status, 0) << ended.output;
  EXPECT_GE(kills, 3);
  EXPECT_GE(resumed, 1);
  EXPECT_EQ(weight_in(ended.output), weight_in(whole.output));
  this->RecordProperty("kills", kills);
}

}  // namespace
}  // namespace seqtrain::tests
