#include <string>

#include <gtest/gtest.h>

#include <seqtrain/gcs/upload.hpp>

#include "support/gcs_fixture.hpp"

namespace seqtrain::tests {
namespace {

constexpr std::size_t granule = gcs::ResumableUpload::granule;

class Upload : public GcsFixture {
 protected:
  const std::string text_ = random_text(5 * granule + 12345);  // three chunks
  const gcs::UploadOptions chunked_{.chunk_bytes = 2 * granule, .one_request_bytes = 0};
  gcs::UploadOptions once_ = {
      .write = {.if_generation = 0}, .chunk_bytes = 2 * granule, .one_request_bytes = 0};

  gcs::ObjectInfo upload(const gcs::Client& client, const gcs::UploadOptions& options) {
    return gcs::upload(client, uri_, http::bytes_of(text_), options);
  }
  /// Uploads through the fault and expects the object to have the right bytes.
  void expect_success(Fault fault, http::Deadlines deadlines = {}) {
    server_.script(std::move(fault));
    const auto info = upload(make_client(false, deadlines), once_);
    EXPECT_EQ(info.size, text_.size());
    EXPECT_TRUE(server_.storage.read("dir/name") == text_);
    EXPECT_EQ(server_.storage.objects(), 1u);
    EXPECT_EQ(logged().find("secret"), std::string::npos);
  }
  /// Expects an upload to throw `E` and to leave no object. Returns the message.
  template <class E>
  std::string expect_failure(const gcs::UploadOptions& options) {
    const auto message = message_of<E>([&] { upload(make_client(true), options); });
    EXPECT_EQ(server_.storage.objects(), 0u);
    EXPECT_EQ((message + logged()).find("secret"), std::string::npos);
    EXPECT_EQ((message + logged()).find("token-"), std::string::npos);
    return message;
  }

  const gcs::Uri uri_{"bucket", "dir/name"};
};

TEST_F(Upload, OfEverySizeArrives) {
  const auto client = make_client();
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, granule - 1, granule, granule + 1,
                                 2 * granule, 4 * granule, 4 * granule + 7}) {
    const auto text = random_text(size);
    for (const auto& options : {gcs::UploadOptions{}, chunked_}) {
      const auto info = gcs::upload(client, uri_, http::bytes_of(text), options);
      EXPECT_EQ(info.size, size);
      EXPECT_TRUE(server_.storage.read("dir/name") == text) << size;
    }
  }
  EXPECT_EQ(server_.storage.overlapping_chunks, 0);
  EXPECT_EQ(server_.connections(), 1);
}

TEST_F(Upload, OfAStreamOfUnknownLengthArrives) {
  const auto client = make_client();
  for (const std::size_t size : {std::size_t{0}, 2 * granule - 1, 2 * granule, 5 * granule + 3}) {
    const auto text = random_text(size);
    std::size_t position = 0;
    gcs::StreamSource source{[&](std::span<std::byte> into) {
      const auto count = std::min({into.size(), text.size() - position, std::size_t{77'777}});
      std::memcpy(into.data(), text.data() + position, count);
      position += count;
      return count;
    }};
    gcs::upload(client, uri_, source, chunked_);
    EXPECT_TRUE(server_.storage.read("dir/name") == text) << size;
  }
}

TEST_F(Upload, InParallelPartsIsJoinedAndLeavesNoParts) {
  const TemporaryDirectory directory;
  const auto file = write_file(directory / "file", text_);
  std::uint64_t last = 0;
  const gcs::UploadOptions options{.chunk_bytes = granule,
                                   .parallel_bytes = 1,
                                   .progress = [&](std::uint64_t done) { last = done; }};
  const auto info = gcs::upload_file(make_client(), uri_, file, options);
  EXPECT_EQ(info.crc32c, Crc32c{}.update(text_));
  EXPECT_TRUE(server_.storage.read("dir/name") == text_);
  EXPECT_EQ(server_.storage.objects(), 1u);
  EXPECT_EQ(last, text_.size());
  EXPECT_EQ(server_.count("/compose"), 1);
}

TEST_F(Upload, InParallelPartsThatFailsLeavesNothing) {
  const TemporaryDirectory directory;
  const auto file = write_file(directory / "file", text_);
  server_.script({.kind = Fault::answer, .contains = "parts-", .skip = 2, .response = {403}});
  const gcs::UploadOptions options{.chunk_bytes = granule, .parallel_bytes = 1};
  EXPECT_THROW(gcs::upload_file(make_client(), uri_, file, options), gcs::Forbidden);
  EXPECT_EQ(server_.storage.objects(), 0u);
}

TEST_F(Upload, GoesOnAfterALost308) {
  expect_success({.kind = Fault::lose_answer, .method = "PUT"});
  EXPECT_EQ(server_.storage.overlapping_chunks, 0);
}

TEST_F(Upload, GoesOnAfterALostLastAnswer) {
  expect_success({.kind = Fault::lose_answer, .method = "PUT", .skip = 2});
}

TEST_F(Upload, SendsAgainWhatA308WithoutRangeDidNotKeep) {
  expect_success({.kind = Fault::answer, .method = "PUT", .response = {308}});
}

TEST_F(Upload, SendsTheRestOfAChunkOfWhichLessWasKept) {
  for (const std::size_t kept : {std::size_t{1}, granule, granule + 5}) {
    server_.storage.keep_of_chunk = kept;
    upload(make_client(), chunked_);
    EXPECT_TRUE(server_.storage.read("dir/name") == text_) << kept;
  }
  EXPECT_EQ(server_.storage.overlapping_chunks, 0);
}

TEST_F(Upload, RefusesAServiceThatConfirmsMoreThanWasSent) {
  server_.storage.claim_more = 1;
  EXPECT_NE(expect_failure<http::TrustError>(chunked_).find("not sent"), std::string::npos);
}

TEST_F(Upload, SurvivesADoubledChunk) {
  expect_success({.kind = Fault::twice, .method = "PUT"});
}

TEST_F(Upload, SurvivesBurstsOf503And429AndWaitsAsLongAsItIsAsked) {
  server_.script({.kind = Fault::answer, .method = "PUT", .times = 3, .response = {503}});
  expect_success({.kind = Fault::answer,
                  .method = "POST",
                  .times = 2,
                  .response = {429, {{"Retry-After", "17"}}}});
  const auto sleeps = time_.sleeps();
  ASSERT_EQ(sleeps.size(), 6u);  // after the burst, the question finds that nothing was kept
  EXPECT_EQ(sleeps[0], 17);
  EXPECT_EQ(sleeps[1], 17);
  EXPECT_EQ(sleeps[2], 1);
  EXPECT_EQ(sleeps[3], 2);
  EXPECT_NE(logged().find("gs://bucket/dir/name: status 429; trying again in 17.0 s"),
            std::string::npos);
}

TEST_F(Upload, UnderstandsARetryAfterThatIsADate) {
  time_.wall_seconds = 784'111'777;  // Sun, 06 Nov 1994 08:49:37 GMT
  expect_success({.kind = Fault::answer,
                  .method = "PUT",
                  .response = {503, {{"Retry-After", "Sun, 06 Nov 1994 08:50:37 GMT"}}}});
  EXPECT_EQ(time_.sleeps().front(), 60);
}

TEST_F(Upload, GoesOnAfterAResetInMidChunk) {
  expect_success({.kind = Fault::reset_early, .method = "PUT", .skip = 1, .bytes = granule / 2});
}

TEST_F(Upload, GoesOnAfterAResetInMidAnswer) {
  expect_success({.kind = Fault::cut_answer, .method = "PUT", .skip = 2});
}

TEST_F(Upload, GoesOnAfterAStall) {
  expect_success({.kind = Fault::stall, .method = "PUT", .skip = 1}, {.read = http::Seconds{0.2}});
  EXPECT_NE(logged().find("took too long"), std::string::npos);
}

TEST_F(Upload, GoesOnAfterAStallInMidAnswer) {
  expect_success({.kind = Fault::stall_within, .method = "PUT", .skip = 2},
                 {.read = http::Seconds{0.2}});
}

TEST_F(Upload, ReadsAChunkedAnswer) {
  expect_success({.kind = Fault::chunked, .method = "PUT", .skip = 2});
}

TEST_F(Upload, BeginsAgainWhenItsSessionIsLost) {
  server_.storage.forget_uploads = true;
  upload(make_client(), chunked_);
  EXPECT_TRUE(server_.storage.read("dir/name") == text_);
  EXPECT_EQ(server_.count("uploadType=resumable"), 2);
}

TEST_F(Upload, GivesUpOnAServiceThatLosesEverySession) {
  server_.storage.always_forget_uploads = true;
  EXPECT_NE(expect_failure<Error>(chunked_).find("forgot the upload"), std::string::npos);
}

TEST_F(Upload, OfAStreamCannotBeginAgain) {
  std::size_t position = 0;
  gcs::StreamSource source{[&](std::span<std::byte> into) {
    const auto count = std::min(into.size(), text_.size() - position);
    std::memcpy(into.data(), text_.data() + position, count);
    position += count;
    return count;
  }};
  server_.script({.kind = Fault::answer, .method = "PUT", .skip = 1, .response = {410}});
  EXPECT_THROW(gcs::upload(make_client(), uri_, source, chunked_), Error);
  EXPECT_EQ(server_.storage.objects(), 0u);
}

TEST_F(Upload, RenewsARefusedTokenOnce) {
  server_.script({.kind = Fault::answer, .method = "PUT", .response = {401}});
  upload(make_client(true), chunked_);
  EXPECT_TRUE(server_.storage.read("dir/name") == text_);
  EXPECT_EQ(server_.authorizations().front(), "Bearer token-1");
  EXPECT_EQ(server_.authorizations().back(), "Bearer token-2");
}

TEST_F(Upload, SaysWhoIsRefusedWhenEveryTokenIs) {
  server_.script({.kind = Fault::answer, .times = 1000, .response = {401}});
  const auto message = expect_failure<gcs::Forbidden>(chunked_);
  EXPECT_NE(message.find("someone@example.com"), std::string::npos);
  EXPECT_EQ(server_.count("POST"), 2);
}

TEST_F(Upload, NamesTheMissingPermission) {
  server_.script(
      {.kind = Fault::answer, .response = {403, {}, R"({"error": {"message": "no\n"}})"}});
  EXPECT_EQ(expect_failure<gcs::Forbidden>({}),
            "gs://bucket/dir/name: someone@example.com is not allowed to do this: no ; the "
            "permission storage.objects.create is needed");
}

TEST_F(Upload, RemovesWhatWasStoredWrong) {
  server_.storage.damage_writes = true;
  EXPECT_NE(expect_failure<Error>(chunked_).find("crc32c"), std::string::npos);
  EXPECT_NE(expect_failure<Error>({}).find("crc32c"), std::string::npos);
}

TEST_F(Upload, RecognisesItsOwnWriteBehindA412) {
  server_.script({.kind = Fault::lose_answer, .method = "POST"});
  once_.one_request_bytes = text_.size();
  const auto info = upload(make_client(), once_);
  EXPECT_EQ(info.size, text_.size());
  EXPECT_EQ(server_.count("uploadType=multipart"), 2);
}

TEST_F(Upload, DoesNotTakeAnothersObjectForItsOwn) {
  server_.storage.write("dir/name", "another's");
  server_.script({.kind = Fault::answer, .method = "POST", .response = {503}});
  once_.one_request_bytes = text_.size();
  EXPECT_THROW(upload(make_client(), once_), gcs::PreconditionFailed);
  EXPECT_EQ(server_.storage.read("dir/name"), "another's");
}

TEST_F(Upload, FollowsARedirectionToTheSameServer) {
  const auto place = "http://127.0.0.1:" + server_.port() +
                     "/upload/storage/v1/b/bucket/o?uploadType=resumable&name=dir%2Fname";
  expect_success(
      {.kind = Fault::answer, .method = "POST", .response = {307, {{"Location", place}}}});
}

TEST_F(Upload, FollowsNoRedirectionElsewhere) {
  for (const char* place :
       {"http://127.0.0.1:1/", "https://example.com/", "https://googleapis.com.evil.example/",
        "http://storage.googleapis.com/", "https://storage.googleapis.com:8443/", "file:///",
        "//example.com/", ""}) {
    server_.script({.kind = Fault::answer, .response = {307, {{"Location", place}}}});
    EXPECT_THROW(upload(make_client(), chunked_), Error) << place;
  }
  EXPECT_EQ(server_.storage.objects(), 0u);
}

TEST_F(Upload, SendsNothingToASessionElsewhere) {
  server_.script({.kind = Fault::answer,
                  .response = {200, {{"Location", "http://127.0.0.1:1/?upload_id=secret"}}}});
  expect_failure<http::TrustError>(chunked_);
}

TEST_F(Upload, EndsAnAnswerThatIsEndless) {
  server_.script({.kind = Fault::endless, .method = "PUT", .skip = 2});
  const auto message = message_of<http::TrustError>([&] { upload(make_client(), chunked_); });
  EXPECT_NE(message.find("longer than"), std::string::npos);
  EXPECT_EQ(server_.storage.objects(), 0u);
}

TEST_F(Upload, GivesUpAfterTheTotalTime) {
  server_.script({.kind = Fault::answer, .times = 1000, .response = {503}});
  const auto message = expect_failure<Error>(chunked_);
  EXPECT_NE(message.find("503"), std::string::npos);
  double total = 0;
  for (const double time : time_.sleeps()) total += time;
  EXPECT_GT(total, 200);
  EXPECT_LE(total, 300);
}

TEST_F(Upload, DoesNotRepeatWhatIsHopeless) {
  for (const int status : {400, 403, 404, 412}) {
    server_.script({.kind = Fault::answer, .response = {status}});
    EXPECT_THROW(upload(make_client(), {}), Error);
  }
  EXPECT_TRUE(time_.sleeps().empty());
  EXPECT_EQ(server_.count("POST"), 4);
}

TEST_F(Upload, OfAFileThatShrinksIsAnError) {
  const TemporaryDirectory directory;
  const auto path = write_file(directory / "file", text_);
  gcs::FileSource source{path};
  std::filesystem::resize_file(path, 3 * granule);
  EXPECT_THROW(gcs::upload(make_client(), uri_, source, chunked_), Error);
  EXPECT_EQ(server_.storage.objects(), 0u);
}

}  // namespace
}  // namespace seqtrain::tests
