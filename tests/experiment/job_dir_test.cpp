#include <optional>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/experiment/job_dir.hpp>

#include "support/environment.hpp"
#include "support/fault_server.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::experiment {
namespace {

using namespace tests;

/// A bucket that the environment names, and a directory.
class JobDir : public testing::Test {
 protected:
  static void put(const std::string& job_dir) {
    auto sink = open_job_dir(job_dir, {log::Log{}});
    const std::string text = "text";
    sink.put("name", std::as_bytes(std::span{text}));
    sink.flush();
  }

  FaultServer server_;
  TemporaryDirectory directory_;
  tests::Environment emulator_{"STORAGE_EMULATOR_HOST", "127.0.0.1:" + server_.port()};
  tests::Environment model_dir_{"AIP_MODEL_DIR", std::nullopt};
};

TEST_F(JobDir, MayBeABucketOrADirectoryOrNone) {
  put("gs://bucket/runs");
  EXPECT_EQ(server_.storage.read("runs/name"), "text");
  put((directory_ / "runs").string());
  EXPECT_EQ(read_file(directory_ / "runs/name"), "text");
  put("");
  EXPECT_EQ(server_.storage.objects(), 1u);
}

TEST_F(JobDir, TheJobsOwnPlaceIsTakenWhereNoneIsGiven) {
  const tests::Environment model_dir{"AIP_MODEL_DIR", "gs://bucket/aip/"};
  put("");
  EXPECT_EQ(server_.storage.read("aip/name"), "text");
  put("gs://bucket/given");
  EXPECT_EQ(server_.storage.read("given/name"), "text");
  EXPECT_EQ(server_.storage.objects(), 2u);
}

TEST_F(JobDir, InNoKnownStorageIsWrongInput) {
  EXPECT_NE(problem_of([] {
              open_job_dir("az://bucket/runs", {log::Log{}});
            }).find("is not in a storage that is known here; name a directory"),
            std::string::npos);
  const tests::Environment model_dir{"AIP_MODEL_DIR", "az://bucket/aip"};
  EXPECT_NE(problem_of([] { open_job_dir("", {log::Log{}}); }).find("az://bucket/aip"),
            std::string::npos);
}

TEST_F(JobDir, ThatCannotBeWrittenIsWrongInput) {
  server_.script({.kind = Fault::answer, .method = "POST", .response = {403}});
  EXPECT_NE(problem_of([] {
              open_job_dir("gs://bucket/runs", {log::Log{}});
            }).find("storage.objects.create is needed"),
            std::string::npos);
  EXPECT_NE(problem_of([] {
              open_job_dir("gs://other-bucket/runs", {log::Log{}});
            }).find("no such bucket"),
            std::string::npos);
  EXPECT_EQ(server_.storage.objects(), 0u);
}

}  // namespace
}  // namespace seqtrain::experiment
