#include <span>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/storage/open.hpp>
#include <seqtrain/storage/schemes/google.hpp>

#include "support/environment.hpp"
#include "support/fault_server.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::storage {
namespace {

using namespace tests;

/// A bucket that the environment names, and a cache for the test.
class GoogleBuckets : public testing::Test {
 protected:
  FaultServer server_;
  TemporaryDirectory directory_;
  tests::Environment emulator_{"STORAGE_EMULATOR_HOST", "127.0.0.1:" + server_.port()};
  tests::Environment cache_{"XDG_CACHE_HOME", directory_.path().string()};
  const Options options_{log::Log{}};
};

TEST_F(GoogleBuckets, TakeResults) {
  const std::string text = "text";
  auto store = open_writable("gs://bucket/runs", options_);
  EXPECT_EQ(store.name(), "gs://bucket/runs/");
  store.put("name", std::as_bytes(std::span{text}));
  EXPECT_EQ(server_.storage.read("runs/name"), "text");
  EXPECT_EQ(server_.storage.objects(), 1U);
}

TEST_F(GoogleBuckets, AreOpenedForReadingWithoutARightToWrite) {
  server_.storage.write("runs/name", "text");
  server_.script({.kind = Fault::answer, .method = "POST", .response = {403}});
  EXPECT_EQ(open("gs://bucket/runs", options_).get("name")->bytes, "text");
  EXPECT_NE(problem_of([&] {
              (void)open_writable("gs://bucket/runs", options_);
            }).find("storage.objects.create is needed"),
            std::string::npos);
}

TEST_F(GoogleBuckets, HaveInputs) {
  server_.storage.write("runs/1/a", "first");
  server_.storage.write("runs/1/b/c", "second");
  const auto scheme = google_buckets();
  EXPECT_EQ(scheme.list("gs://bucket/runs", options_.log), (Names{"1/a", "1/b/c"}));
  EXPECT_EQ(read_file(fetch("gs://bucket/runs/1/a", options_)), "first");
  EXPECT_EQ(read_file(fetch("gs://bucket/runs", options_) / "1/b/c"), "second");
  EXPECT_TRUE(fetch("gs://bucket/runs", options_).string().starts_with(directory_.path().string()));
}

TEST_F(GoogleBuckets, ThatAreMissingAreWrongInput) {
  EXPECT_THROW((void)google_buckets().list("gs://other-bucket", options_.log), InputError);
  EXPECT_THROW((void)fetch("gs://other-bucket/a", options_), InputError);
  EXPECT_THROW((void)open_writable("gs://other-bucket/a", options_), InputError);
  EXPECT_NE(problem_of([&] { (void)open("gs://UPPER", options_); }).find("lower-case"),
            std::string::npos);
}

}  // namespace
}  // namespace seqtrain::storage
