#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/buckets/cache.hpp>
#include <seqtrain/s3/client.hpp>

#include "support/fake_s3.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::tests {
namespace {

using s3::Uri;

class S3Client : public testing::Test {
 protected:
  /// Reads an object as the store does, by ranges of so many bytes.
  std::string read(const std::string& name, std::uint64_t range = 3) {
    const auto file = directory_ / "file";
    buckets::download_version(client_, client_.stat({"bucket", name}), file,
                              {.range_bytes = range});
    return read_file(file);
  }

  OfflineS3 service_;
  s3::Client client_ = service_.client();
  TemporaryDirectory directory_;
};

TEST_F(S3Client, ReadsWhatItWrote) {
  const auto written = client_.put({"bucket", "dir/a"}, "0123456789");
  EXPECT_EQ(read("dir/a"), "0123456789");
  const auto found = client_.stat({"bucket", "dir/a"});
  EXPECT_EQ(found.etag, written.etag);
  EXPECT_EQ(found.written_by, written.written_by);
  EXPECT_EQ(found.checksum.kind, s3::Checksum::crc32c);
  client_.remove({"bucket", "dir/a"});
  client_.remove({"bucket", "dir/a"});
  EXPECT_FALSE(client_.find({"bucket", "dir/a"}));
}

TEST_F(S3Client, ListsPagesAndNamesAsTheyAre) {
  service_.storage.page_size = 2;
  const std::vector<std::string> names{"a b", "a%2F", "a+b", "a/ü", "a<&>\"'"};
  for (const auto& name : names) service_.storage.write(name, name);
  std::vector<std::string> listed;
  for (const auto& object : client_.list({"bucket", "a"})) listed.push_back(object.uri.name);
  EXPECT_EQ(listed, (std::vector<std::string>{"a b", "a%2F", "a+b", "a/ü", "a<&>\"'"}));
  EXPECT_EQ(service_.requests, 3);
}

TEST_F(S3Client, RefusesAListThatIsNone) {
  for (const char* body :
       {"", "<html></html>",
        "<ListBucketResult><Contents><Key>b</Key><Size>1</Size></Contents>"
        "</ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"}) {
    service_.answers = [&](const auto&) { return http::Response{200, {}, body}; };
    EXPECT_NE(problem_of([&] {
                (void)client_.list({"bucket", "a"});
              }).find("s3://bucket/a"),
              std::string::npos)
        << body;
  }
}

TEST_F(S3Client, NoticesDamageByTheChecksumOfAnyWriter) {
  for (const bool has_checksums : {true, false}) {
    service_.storage.has_checksums = has_checksums;
    client_.put({"bucket", "a"}, "0123456789");
    service_.storage.damage_reads = 1;
    EXPECT_EQ(read("a"), "0123456789") << "it is fetched once more";
    service_.storage.damage_reads = 1000;
    EXPECT_THROW((void)read("a"), buckets::WrongChecksum);
    service_.storage.damage_reads = 0;
  }
}

TEST_F(S3Client, ReadsObjectsOfUnequalParts) {
  service_.storage.write_parts("a", {"0123456789", "012345", "0123456789"});
  service_.storage.write_parts("b", {"0123456789", "012345678", "01234567890", "0123456789"});
  service_.storage.write_parts("c", {"012345", "0123456789"});
  EXPECT_EQ(read("a", 7), "01234567890123450123456789");
  EXPECT_EQ(read("b", 7), "0123456789012345678012345678900123456789");
  EXPECT_EQ(read("c", 7), "0123450123456789");
  service_.storage.damage_reads = 1000;
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_THROW((void)read(name), buckets::WrongChecksum) << name;
  }
}

TEST_F(S3Client, TakesNoAnswerWithoutAnETagForAWrite) {  // such as that of a portal's login page
  service_.answers = [](const auto&) { return http::Response{200, {}, "<html>log in</html>"}; };
  const auto said = problem_of([&] { client_.put({"bucket", "a"}, "text"); });
  EXPECT_NE(said.find("no ETag"), std::string::npos) << said;
}

/// Answers all requests with a refusal, which has no body if the request is HEAD.
std::string problem_of_stat(OfflineS3& service, int status, const std::string& code) {
  service.answers = [=](const FakeTransport::Seen& seen) {
    const bool bare = seen.method == "HEAD";
    return http::Response{status, {}, bare ? "" : "<Error><Code>" + code + "</Code></Error>"};
  };
  return problem_of([&] { (void)service.client().stat({"bucket", "a"}); });
}

TEST_F(S3Client, LearnsByAnotherRequestWhyAHeadIsRefused) {
  const auto expired = problem_of_stat(service_, 400, "ExpiredToken");
  EXPECT_NE(expired.find("any more: ExpiredToken"), std::string::npos) << expired;
  const auto wrong = problem_of_stat(service_, 403, "SignatureDoesNotMatch");
  EXPECT_NE(wrong.find("does not accept the role test: Sign"), std::string::npos) << wrong;
  const auto denied = problem_of_stat(service_, 403, "AccessDenied");
  EXPECT_NE(denied.find("s3:GetObject is needed"), std::string::npos) << denied;
  EXPECT_EQ(problem_of_stat(service_, 500, "InternalError").find("InternalError"),
            std::string::npos);
}

TEST_F(S3Client, NoticesThatOtherBytesWereStored) {
  service_.storage.damage_writes = true;
  for (const bool has_checksums : {true, false}) {
    service_.storage.has_checksums = has_checksums;
    EXPECT_NE(problem_of([&] {
                client_.put({"bucket", "a"}, "text");
              }).find("other bytes"),
              std::string::npos);
  }
}

TEST_F(S3Client, DoesNotMixTwoVersions) {
  service_.storage.write("a", "0123456789");
  const auto old = client_.stat({"bucket", "a"});
  service_.storage.write("a", "9876543210");
  EXPECT_THROW(client_.read(old, 0, 10, [](auto) {}), s3::NotFound);
}

TEST_F(S3Client, DoesNotMixTwoVersionsOfAServiceThatIgnoresConditions) {
  service_.storage.keeps_conditions = false;
  service_.storage.write("a", "0123456789");
  const auto old = client_.stat({"bucket", "a"});
  service_.storage.write("a", "9876543210");
  EXPECT_THROW(client_.read(old, 0, 10, [](auto) {}), s3::NotFound);
}

TEST_F(S3Client, TakesWeakETagsAsTheServiceMeansThem) {  // a proxy that compresses makes them weak
  EXPECT_EQ(s3::plain_etag("W/\"0a\""), "0a");
  EXPECT_EQ(s3::plain_etag("\"0a\""), "0a");
  EXPECT_EQ(s3::plain_etag("0a"), "0a");
  EXPECT_EQ(s3::plain_etag("\""), "\"");
}

TEST_F(S3Client, RefusesAnObjectThatIsLargerThanAnyCanBe) {
  for (const char* size : {"18446744073709551615", "18446744073709551616", "9000000000000000000"}) {
    service_.answers = [&](const auto&) {
      return http::Response{200, {{"ETag", "\"x\""}, {"Content-Length", size}}, ""};
    };
    const auto said = problem_of([&] { (void)read("a"); });
    EXPECT_NE(said.find("s3://bucket/a"), std::string::npos) << said;
    EXPECT_FALSE(std::filesystem::exists(directory_ / "file"));
  }
}

TEST_F(S3Client, TakesNoErrorForARemoval) {
  service_.answers = [](const auto&) {
    return http::Response{200, {}, "<Error><Code>AccessDenied</Code></Error>"};
  };
  const auto said = problem_of([&] { client_.remove({"bucket", "a"}); });
  EXPECT_NE(said.find("AccessDenied"), std::string::npos) << said;
}

TEST_F(S3Client, WritesOnlyUnderItsCondition) {
  const auto first = client_.put({"bucket", "a"}, "one", {.if_etag = ""});
  EXPECT_THROW((void)client_.put({"bucket", "a"}, "two", {.if_etag = ""}), s3::PreconditionFailed);
  const auto second = client_.put({"bucket", "a"}, "two", {.if_etag = first.etag});
  EXPECT_THROW((void)client_.put({"bucket", "a"}, "late", {.if_etag = first.etag}),
               s3::PreconditionFailed);
  EXPECT_EQ(service_.storage.read("a"), "two");
}

TEST_F(S3Client, RecognisesItsOwnWriteWhoseAnswerWasLost) {
  bool lost = false;
  service_.answers = [&](const FakeTransport::Seen& seen) -> std::optional<http::Response> {
    if (seen.method != "PUT" || lost) return {};
    lost = true;
    service_.storage.handle({seen.method, seen.target, seen.headers, seen.body});
    return http::Response{500};
  };
  EXPECT_NO_THROW((void)client_.put({"bucket", "a"}, "one", {.if_etag = ""}));
  lost = false;
  service_.answers = [&](const FakeTransport::Seen& seen) -> std::optional<http::Response> {
    if (seen.method != "PUT" || lost) return {};
    lost = true;
    service_.storage.write("b", "one");
    return http::Response{500};
  };
  EXPECT_THROW((void)client_.put({"bucket", "b"}, "one", {.if_etag = ""}), s3::PreconditionFailed);
}

TEST_F(S3Client, FetchesIntoTheCacheThatAllCloudsShare) {
  service_.storage.write("model/config.json", "{}");
  service_.storage.write("model/sub/weights", "0123456789");
  const buckets::Cache<s3::Client> cache{directory_ / "cache"};
  const auto path = cache.fetch(client_, {"bucket", "model"});
  EXPECT_EQ(read_file(path / "sub/weights"), "0123456789");
  EXPECT_EQ(cache.fetch(client_, {"bucket", "model"}), path);
  write_file(path / "sub/weights", "012345678x");
  EXPECT_EQ(read_file(cache.fetch(client_, {"bucket", "model"}) / "sub/weights"), "0123456789");
  service_.storage.write("model/config.json", "[]");
  EXPECT_NE(cache.fetch(client_, {"bucket", "model"}), path);
}

}  // namespace
}  // namespace seqtrain::tests
