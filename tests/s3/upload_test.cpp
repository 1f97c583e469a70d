#include <map>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <seqtrain/s3/upload.hpp>

#include "support/fake_s3.hpp"
#include "support/fake_transport.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::tests {
namespace {

class S3Upload : public testing::Test {
 protected:
  S3Upload() {
    for (std::size_t i = 0; i < text_.size(); ++i) text_[i] = static_cast<char>(i * 7 / 5);
    write_file(file_, text_);
  }

  void upload() {
    s3::upload_file(client_, {"bucket", "a b"}, file_,
                    {.part_bytes = 1000, .one_request_bytes = 1000});
  }
  /// Lets the service answer in place of requests whose target has this text.
  void answer(const std::string& target, const http::Response& response, int times = 1 << 20) {
    service_.answers =
        [this, target, response,
         left = times](const FakeTransport::Seen& seen) mutable -> std::optional<http::Response> {
      const std::lock_guard lock{mutex_};
      if ((seen.method + seen.target).find(target) == std::string::npos || left-- <= 0) return {};
      return response;
    };
  }

  std::mutex mutex_;
  OfflineS3 service_;
  s3::Client client_ = service_.client();
  TemporaryDirectory directory_;
  std::filesystem::path file_ = directory_ / "file";
  std::string text_ = std::string(5432, '\0');
};

TEST_F(S3Upload, NamesTheChecksumAsABucketWithObjectLockDemands) {
  service_.storage.locks_objects = true;
  upload();
  client_.put({"bucket", "small"}, "text");
  EXPECT_TRUE(service_.storage.read("a b") == text_);
  EXPECT_EQ(service_.storage.read("small"), "text");
}

TEST_F(S3Upload, SendsALargeFileInParts) {
  std::uint64_t most = 0;
  s3::upload_file(client_, {"bucket", "a b"}, file_,
                  {.part_bytes = 1000,
                   .one_request_bytes = 1000,
                   .progress = [&](std::uint64_t done) { most = done; }});
  EXPECT_TRUE(service_.storage.read("a b") == text_);
  EXPECT_EQ(most, text_.size());
  EXPECT_EQ(service_.storage.open_uploads(), 0U);
  const auto object = client_.stat({"bucket", "a b"});
  EXPECT_EQ(object.checksum.kind, s3::Checksum::crc32c);
  EXPECT_TRUE(object.etag.ends_with("-6"));
}

TEST_F(S3Upload, IsVerifiedByItsPartsWhereTheServiceHasNoChecksums) {
  service_.storage.has_checksums = false;
  upload();
  const auto object = client_.stat({"bucket", "a b"});
  EXPECT_EQ(object.checksum.kind, s3::Checksum::md5_of_parts);
  EXPECT_EQ(object.checksum.part_bytes, 1000U);
  const auto copy = directory_ / "copy";
  EXPECT_NO_THROW(buckets::download_version(client_, object, copy));
  service_.storage.damage_reads = 2;
  EXPECT_THROW(buckets::download_version(client_, object, copy), buckets::WrongChecksum);
}

TEST_F(S3Upload, RepeatsAPart) {
  answer("partNumber=3", {503}, 2);
  upload();
  EXPECT_TRUE(service_.storage.read("a b") == text_);
}

TEST_F(S3Upload, IsAbortedWhenItFails) {
  answer("partNumber=3", {403});
  EXPECT_THROW(upload(), s3::Forbidden);
  EXPECT_FALSE(service_.storage.read("a b"));
  EXPECT_EQ(service_.storage.open_uploads(), 0U);
}

TEST_F(S3Upload, ThatCannotBeAbortedIsLogged) {
  service_.storage.denied = "DELETE";
  answer("partNumber=3", {403});
  EXPECT_THROW(upload(), s3::Forbidden);
  EXPECT_NE(service_.log.find("an upload could not be aborted"), std::string::npos);
}

TEST_F(S3Upload, RepeatsAnErrorThatCameWithStatus200) {
  service_.storage.fails_in_ok = true;
  upload();
  EXPECT_TRUE(service_.storage.read("a b") == text_);
}

TEST_F(S3Upload, IsDoneOnlyIfTheServiceSaysSo) {
  service_.storage.write("a b", "old");
  const std::string start = "<?xml version=\"1.0\"?>\n" + std::string(600, ' ');
  for (const auto& [body, said] : std::map<std::string, std::string>{
           {start + "<Error><Code>InvalidPart</Code></Error>", "answered 200: InvalidPart"},
           {"<html>log in</html>", "did not confirm that it joined the parts"},
           {start + "<CompleteMultipartUploadResult><ETag>", "did not confirm"},
           {"", "did not confirm"}}) {
    answer("POST/bucket/a%20b?uploadId", {200, {}, body});
    const auto problem = problem_of([&] { upload(); });
    EXPECT_NE(problem.find(said), std::string::npos) << body << ": " << problem;
    EXPECT_EQ(service_.storage.read("a b"), "old");
    EXPECT_EQ(service_.storage.open_uploads(), 0U);
  }
}

TEST_F(S3Upload, NeedsAnETagOfEachPart) {
  answer("partNumber=3", {200, {{"Content-Type", "text/html"}}, "<html>log in</html>"});
  EXPECT_NE(problem_of([&] { upload(); }).find("no ETag"), std::string::npos);
}

TEST_F(S3Upload, HasNoPartsThatAmazonWouldRefuseAtTheirEnd) {
  auto fake = std::make_unique<FakeTransport>([](const auto&) { return http::Response{404}; });
  auto* const transport = fake.get();
  const s3::Client amazon{std::make_unique<s3::Session>(
      std::move(fake), std::make_unique<s3::Anonymous>(), s3::SessionOptions{})};
  const auto said = problem_of([&] {
    s3::upload_file(amazon, {"bucket", "a"}, file_,
                    {.part_bytes = 1000, .one_request_bytes = 1000});
  });
  EXPECT_NE(said.find("5 MiB"), std::string::npos) << said;
  EXPECT_TRUE(transport->seen().empty());
}

TEST_F(S3Upload, RecognisesThatItWasDoneWhenTheAnswerIsLost) {
  bool lost = false;
  service_.answers = [&](const FakeTransport::Seen& seen) -> std::optional<http::Response> {
    if (seen.method != "POST" || seen.target.find("uploadId") == std::string::npos) return {};
    if (std::exchange(lost, true)) return {};
    service_.storage.handle({seen.method, seen.target, seen.headers, seen.body});
    return http::Response{500};
  };
  EXPECT_NO_THROW(upload());
  EXPECT_TRUE(service_.storage.read("a b") == text_);
}

TEST_F(S3Upload, NeedsNoRightToRead) {
  service_.storage.denied = "HEAD";
  upload();
  EXPECT_TRUE(service_.storage.read("a b") == text_);
}

TEST_F(S3Upload, RemovesAnObjectThatIsStoredWrongly) {
  service_.storage.damage_writes = true;
  EXPECT_THROW(upload(), Error);
  EXPECT_FALSE(service_.storage.read("a b"));
}

}  // namespace
}  // namespace seqtrain::tests
