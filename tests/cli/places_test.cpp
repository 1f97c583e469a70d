#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <stdlib.h>

#include <seqtrain/cli/places.hpp>

#include "support/fault_server.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::tests {
namespace {

/// A bucket that the environment names, and a cache for the test.
class Places : public testing::Test {
 protected:
  Places() {
    ::setenv("STORAGE_EMULATOR_HOST", ("127.0.0.1:" + server_.port()).c_str(), 1);
    ::setenv("XDG_CACHE_HOME", directory_.path().c_str(), 1);
    ::setenv("HF_HUB_OFFLINE", "1", 1);
    ::unsetenv("AIP_MODEL_DIR");
  }
  ~Places() override {
    for (const char* name :
         {"STORAGE_EMULATOR_HOST", "XDG_CACHE_HOME", "HF_HUB_OFFLINE", "AIP_MODEL_DIR"})
      ::unsetenv(name);
  }

  static void put(const std::string& job_dir) {
    auto sink = cli::open_job_dir(job_dir, log::Log{});
    const std::string text = "text";
    sink.put("name", std::as_bytes(std::span{text}));
    sink.flush();
  }

  FaultServer server_;
  TemporaryDirectory directory_;
};

TEST_F(Places, InputsFromBucketsAreFetched) {
  server_.storage.write("m/config.json", "{}");
  server_.storage.write("m/deep/file", "deep");
  server_.storage.write("train.jsonl", "lines");
  cli::TrainFlags given;
  given.model = "gs://bucket/m";
  given.train_file = given.test_file = "gs://bucket/train.jsonl";
  given.dev_file = "dev.jsonl";
  const auto flags = cli::with_local_inputs(given, log::Log{});
  EXPECT_EQ(read_file(flags.model + "/config.json"), "{}");
  EXPECT_EQ(read_file(flags.model + "/deep/file"), "deep");
  EXPECT_EQ(read_file(flags.train_file), "lines");
  EXPECT_TRUE(flags.train_file.ends_with("/train.jsonl"));
  EXPECT_TRUE(flags.train_file.starts_with(cache_directory().string()));
  EXPECT_EQ(flags.dev_file, "dev.jsonl");
  EXPECT_EQ(flags.test_file, flags.train_file);
  EXPECT_EQ(server_.count("train.jsonl?alt=media"), 1);
}

TEST_F(Places, SeveralFilesOfASplitAreFetched) {
  server_.storage.write("a,1.parquet", "a");
  server_.storage.write("b.parquet", "b");
  cli::TrainFlags given;
  given.model = directory_.path().string();
  tests::write_file(directory_ / "config.json", "{}");
  given.train_file = "gs://bucket/a,1.parquet,gs://bucket/b.parquet";
  given.dev_file = "a.parquet,b.parquet";
  const auto flags = cli::with_local_inputs(given, log::Log{});
  const std::size_t cut = flags.train_file.find(".parquet,") + 8;
  EXPECT_EQ(read_file(flags.train_file.substr(0, cut)), "a");
  EXPECT_EQ(read_file(flags.train_file.substr(cut + 1)), "b");
  EXPECT_EQ(flags.dev_file, "a.parquet,b.parquet");
}

TEST_F(Places, InputsThatAreNotThereAreWrongInput) {
  const auto problem_with = [](std::string cli::TrainFlags::*place, const std::string& value) {
    cli::TrainFlags flags;
    flags.model = flags.train_file = flags.dev_file = "here";
    flags.*place = value;
    return problem_of([&] { cli::with_local_inputs(flags, log::Log{}); });
  };
  using cli::TrainFlags;
  EXPECT_NE(problem_with(&TrainFlags::train_file, "gs://bucket/absent").find("gs://bucket/absent"),
            std::string::npos);
  EXPECT_NE(problem_with(&TrainFlags::model, "gs://other-bucket/m")
                .find("gs://other-bucket/m/: no such bucket"),
            std::string::npos);
  EXPECT_NE(problem_with(&TrainFlags::output_dir, "gs://bucket/runs").find("--job-dir"),
            std::string::npos);
}

TEST_F(Places, AJobDirMayBeABucketOrADirectoryOrNone) {
  put("gs://bucket/runs");
  EXPECT_EQ(server_.storage.read("runs/name"), "text");
  put((directory_ / "runs").string());
  EXPECT_EQ(read_file(directory_ / "runs/name"), "text");
  put("");
  EXPECT_EQ(server_.storage.objects(), 1u);
}

TEST_F(Places, TheJobsOwnPlaceIsTakenWhereNoneIsGiven) {
  ::setenv("AIP_MODEL_DIR", "gs://bucket/aip/", 1);
  put("");
  EXPECT_EQ(server_.storage.read("aip/name"), "text");
  put("gs://bucket/given");
  EXPECT_EQ(server_.storage.read("given/name"), "text");
  EXPECT_EQ(server_.storage.objects(), 2u);
}

TEST_F(Places, AJobDirThatCannotBeWrittenIsWrongInput) {
  server_.script({.kind = Fault::answer, .method = "POST", .response = {403}});
  EXPECT_NE(problem_of([] {
              cli::open_job_dir("gs://bucket/runs", log::Log{});
            }).find("storage.objects.create is needed"),
            std::string::npos);
  EXPECT_NE(problem_of([] {
              cli::open_job_dir("gs://other-bucket/runs", log::Log{});
            }).find("no such bucket"),
            std::string::npos);
  EXPECT_EQ(server_.storage.objects(), 0u);
}

}  // namespace
}  // namespace seqtrain::tests
