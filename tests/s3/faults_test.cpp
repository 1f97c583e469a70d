// Uploads and downloads over connections with the faults that the tests of Google's sink try.
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/buckets/download.hpp>
#include <seqtrain/http/beast_transport.hpp>
#include <seqtrain/s3/upload.hpp>

#include "support/fake_s3.hpp"
#include "support/fault_server.hpp"
#include "support/problem_of.hpp"
#include "support/sleepless_time.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::tests {
namespace {

constexpr std::size_t s3_piece = 100'000;  ///< the bytes of a part, and of a range

/// A service with faults on a port of this machine, and a client of it that never sleeps.
class S3Faults : public testing::Test {
 protected:
  S3Faults() {
    for (std::size_t i = 0; i < text_.size(); ++i) text_[i] = static_cast<char>(i * 7 / 5);
  }

  s3::Client make_client(http::Deadlines deadlines = {}) {
    s3::SessionOptions options{.endpoint = http::Url{"http", "127.0.0.1", server_.port()},
                               .path_style = true,
                               .timing = time_.timing()};
    options.log = [this](std::string_view line) {
      const std::lock_guard lock{mutex_};
      log_ += std::string{line} + '\n';
    };
    return s3::Client{std::make_unique<s3::Session>(
        std::make_unique<http::BeastTransport>(http::TransportOptions{.deadlines = deadlines}),
        std::make_unique<CountingKeys>(), std::move(options))};
  }
  /// Expects that neither a message nor the log has a secret.
  void expect_no_secret(const std::string& message = {}) {
    const std::lock_guard lock{mutex_};
    for (const char* secret : {"secret", "token-", "Signature="}) {
      EXPECT_EQ((message + log_).find(secret), std::string::npos) << message << log_;
    }
  }

  static http::Response refusal(int status, const std::string& code) {
    return {status, {}, "<Error><Code>" + code + "</Code></Error>"};
  }

  const s3::Uri uri_{"bucket", "dir/a b"};
  std::string text_ = std::string(2 * s3_piece + 12345, '\0');
  TemporaryDirectory directory_;
  SleeplessTime time_;
  std::mutex mutex_;
  std::string log_;
  FaultyServer<FakeS3> server_;
};

class S3UploadFaults : public S3Faults {
 protected:
  S3UploadFaults() { write_file(file_, text_); }

  void upload(http::Deadlines deadlines = {}) {
    s3::upload_file(make_client(deadlines), uri_, file_,
                    {.part_bytes = s3_piece, .one_request_bytes = 1000});
  }
  /// Uploads through a fault and expects the object to have the right bytes.
  void expect_success(Fault fault, http::Deadlines deadlines = {}) {
    server_.script(std::move(fault));
    upload(deadlines);
    EXPECT_TRUE(server_.service.read(uri_.name) == text_);
    EXPECT_EQ(server_.service.objects(), 1U);
    EXPECT_EQ(server_.service.open_uploads(), 0U);
    expect_no_secret();
  }
  /// Expects an upload to leave neither an object nor parts. Returns the message.
  std::string expect_failure() {
    const auto message = problem_of([&] { upload(); });
    EXPECT_EQ(server_.service.objects(), 0U);
    EXPECT_EQ(server_.service.open_uploads(), 0U);
    expect_no_secret(message);
    return message;
  }

  const std::filesystem::path file_ = directory_ / "file";
  const std::string part_ = "partNumber=2", end_ = "?uploadId=";
};

TEST_F(S3UploadFaults, GoesOnAfterALostAnswerToAPart) {
  expect_success({.kind = Fault::lose_answer, .contains = part_});
}

TEST_F(S3UploadFaults, GoesOnAfterALostLastAnswer) {
  expect_success({.kind = Fault::lose_answer, .method = "POST", .contains = end_});
}

TEST_F(S3UploadFaults, BeginsTwiceWhenTheFirstAnswerIsLost) {
  server_.script({.kind = Fault::lose_answer, .method = "POST", .contains = "?uploads"});
  upload();
  EXPECT_TRUE(server_.service.read(uri_.name) == text_);
  EXPECT_EQ(server_.service.open_uploads(), 1U) << "nobody knows its name; it has no parts";
}

TEST_F(S3UploadFaults, SurvivesADoubledPart) {
  expect_success({.kind = Fault::twice, .contains = part_});
}

TEST_F(S3UploadFaults, SurvivesADoubledEnd) {
  expect_success({.kind = Fault::twice, .method = "POST", .contains = end_});
}

TEST_F(S3UploadFaults, SurvivesADoubledWriteUnderACondition) {
  server_.script({.kind = Fault::twice, .method = "PUT"});
  const auto written = make_client().put(uri_, "text", {.if_etag = ""});
  EXPECT_FALSE(written.written_by.empty());
  EXPECT_EQ(server_.service.read(uri_.name), "text");
}

TEST_F(S3UploadFaults, SurvivesBurstsOf503And429AndWaitsAsLongAsItIsAsked) {
  server_.script({.kind = Fault::answer, .contains = end_, .times = 3, .response = {503}});
  expect_success({.kind = Fault::answer,
                  .contains = "?uploads",
                  .times = 2,
                  .response = {429, {{"Retry-After", "17"}}}});
  EXPECT_EQ(time_.sleeps(), (std::vector<double>{17, 17, 1, 2, 4}));
}

TEST_F(S3UploadFaults, UnderstandsARetryAfterThatIsADate) {
  expect_success({.kind = Fault::answer,
                  .contains = part_,
                  .response = {503, {{"Retry-After", "Tue, 14 Nov 2023 22:14:20 GMT"}}}});
  EXPECT_EQ(time_.sleeps(), std::vector<double>{60});
}

TEST_F(S3UploadFaults, GoesOnAfterAResetInMidPart) {
  expect_success({.kind = Fault::reset_early, .contains = part_, .bytes = s3_piece / 2});
}

TEST_F(S3UploadFaults, GoesOnAfterAResetInMidAnswer) {
  expect_success({.kind = Fault::cut_answer, .method = "POST", .contains = end_});
}

TEST_F(S3UploadFaults, GoesOnAfterAStall) {
  expect_success({.kind = Fault::stall, .contains = part_}, {.read = http::Seconds{0.2}});
}

TEST_F(S3UploadFaults, GoesOnAfterAStallInMidAnswer) {
  expect_success({.kind = Fault::stall_within, .method = "POST", .contains = end_},
                 {.read = http::Seconds{0.2}});
}

TEST_F(S3UploadFaults, ReadsAChunkedAnswer) {
  expect_success({.kind = Fault::chunked, .method = "POST", .contains = end_});
}

TEST_F(S3UploadFaults, BeginsAgainWhenTheServiceHasLostTheUpload) {
  expect_success(
      {.kind = Fault::answer, .contains = part_, .response = refusal(404, "NoSuchUpload")});
  EXPECT_EQ(server_.count("?uploads"), 2);
  expect_success({.kind = Fault::answer,
                  .method = "POST",
                  .contains = end_,
                  .response = refusal(404, "NoSuchUpload")});
}

TEST_F(S3UploadFaults, GivesUpOnAServiceThatLosesEveryUpload) {
  server_.script({.kind = Fault::answer,
                  .contains = part_,
                  .times = 1000,
                  .response = refusal(404, "NoSuchUpload")});
  const auto message = expect_failure();
  EXPECT_NE(message.find("NoSuchUpload"), std::string::npos) << message;
}

TEST_F(S3UploadFaults, RenewsKeysThatExpireDuringAnUpload) {
  expect_success(
      {.kind = Fault::answer, .contains = part_, .response = refusal(400, "ExpiredToken")});
}

TEST_F(S3UploadFaults, SaysWhoIsRefusedWhenAllKeysAre) {
  server_.script({.kind = Fault::answer,
                  .contains = part_,
                  .times = 1000,
                  .response = refusal(400, "ExpiredToken")});
  const auto message = expect_failure();
  EXPECT_NE(message.find("does not accept the role test any more"), std::string::npos) << message;
}

TEST_F(S3UploadFaults, FollowsNoRedirection) {
  server_.script({.kind = Fault::answer,
                  .contains = part_,
                  .response = {307, {{"Location", "http://127.0.0.1:1/"}}}});
  const auto message = expect_failure();
  EXPECT_NE(message.find("at another address"), std::string::npos) << message;
}

TEST_F(S3UploadFaults, EndsAnAnswerThatIsEndless) {
  server_.script({.kind = Fault::endless, .method = "POST", .contains = end_});
  const auto message = expect_failure();
  EXPECT_NE(message.find("longer than"), std::string::npos) << message;
}

TEST_F(S3UploadFaults, GivesUpAfterTheTotalTime) {
  server_.script({.kind = Fault::answer,
                  .method = "POST",
                  .contains = end_,
                  .times = 1000,
                  .response = {503}});
  const auto message = expect_failure();
  EXPECT_NE(message.find("503"), std::string::npos) << message;
  double total = 0;
  for (const double time : time_.sleeps()) total += time;
  EXPECT_GT(total, 200);
  EXPECT_LE(total, 300);
}

TEST_F(S3UploadFaults, DoesNotRepeatWhatIsHopeless) {
  for (const int status : {400, 403, 405, 412, 501}) {
    server_.script({.kind = Fault::answer, .contains = part_, .response = {status}});
    expect_failure();
  }
  EXPECT_TRUE(time_.sleeps().empty());
}

TEST_F(S3UploadFaults, OfAFileThatShrinksIsAnError) {
  const auto message = problem_of([&] {
    s3::upload_file(
        make_client(), uri_, file_,
        {.part_bytes = s3_piece, .one_request_bytes = 1000, .threads = 1, .progress = [&](auto) {
           std::filesystem::resize_file(file_, s3_piece);
         }});
  });
  EXPECT_NE(message.find("became shorter"), std::string::npos) << message;
  EXPECT_EQ(server_.service.objects() + server_.service.open_uploads(), 0U);
}

class S3DownloadFaults : public S3Faults {
 protected:
  S3DownloadFaults() { server_.service.write(uri_.name, text_); }

  void download(http::Deadlines deadlines = {}) {
    const auto client = make_client(deadlines);
    buckets::download_version(client, client.stat(uri_), file_,
                              {.range_bytes = s3_piece, .threads = 2});
  }
  void expect_success(Fault fault, http::Deadlines deadlines = {}) {
    server_.script(std::move(fault));
    download(deadlines);
    EXPECT_TRUE(read_file(file_) == text_);
    expect_files(1);
  }
  /// Expects a download to leave no file. Returns the message.
  std::string expect_failure(http::Deadlines deadlines = {}) {
    const auto message = problem_of([&] { download(deadlines); });
    expect_files(0);
    expect_no_secret(message);
    return message;
  }
  void expect_files(int count) {
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator{directory_.path()}, {}), count);
  }

  const std::filesystem::path file_ = directory_ / "file";
};

TEST_F(S3DownloadFaults, GoesOnAfterACutAnswer) {
  expect_success({.kind = Fault::cut_answer, .method = "GET", .skip = 1, .times = 3});
}

TEST_F(S3DownloadFaults, GoesOnAfterAStallInMidAnswer) {
  expect_success({.kind = Fault::stall_within, .method = "GET"}, {.read = http::Seconds{0.2}});
}

TEST_F(S3DownloadFaults, GoesOnAfterALostAnswer) {
  expect_success({.kind = Fault::lose_answer, .method = "GET", .times = 2});
  expect_success({.kind = Fault::lose_answer, .method = "HEAD"});
}

TEST_F(S3DownloadFaults, GoesOnAfterAnAnswerThatIsTooShort) {
  expect_success({.kind = Fault::answer,
                  .method = "GET",
                  .contains = "bytes=0-",
                  .response = {206, {{"Content-Range", "bytes 0-0/1"}}, text_.substr(0, 1)}});
}

TEST_F(S3DownloadFaults, ReadsAChunkedAnswer) {
  expect_success({.kind = Fault::chunked, .method = "GET"});
}

TEST_F(S3DownloadFaults, FetchesAgainWhatArrivesDamaged) {
  server_.service.damage_reads = 1;
  download();
  EXPECT_TRUE(read_file(file_) == text_);
}

TEST_F(S3DownloadFaults, LeavesNothingOfWhatArrivesDamagedTwice) {
  server_.service.damage_reads = 1000;
  EXPECT_NE(expect_failure().find("checksum"), std::string::npos);
}

TEST_F(S3DownloadFaults, RefusesAnotherRangeThanItAskedFor) {
  server_.script({.kind = Fault::answer,
                  .method = "GET",
                  .contains = "bytes=100000-",
                  .times = 1000,
                  .response = {200, {}, text_}});
  const auto message = expect_failure();
  EXPECT_NE(message.find("longer than"), std::string::npos) << message;
}

TEST_F(S3DownloadFaults, EndsAnAnswerThatIsEndless) {
  server_.script({.kind = Fault::endless, .method = "GET"});
  const auto message = expect_failure();
  EXPECT_NE(message.find("longer than"), std::string::npos) << message;
}

TEST_F(S3DownloadFaults, EndsAListThatIsEndless) {
  server_.script({.kind = Fault::endless});
  const auto message = problem_of([&] { (void)make_client().list(uri_); });
  EXPECT_NE(message.find("longer than"), std::string::npos) << message;
}

TEST_F(S3DownloadFaults, GivesUpOnAServerThatOnlyStalls) {
  server_.script({.kind = Fault::stall, .times = 1000});
  EXPECT_NE(expect_failure({.read = http::Seconds{0.02}}).find("took too long"), std::string::npos);
}

TEST_F(S3DownloadFaults, ABoundOnTheWholeEndsWhatOnlyTrickles) {
  server_.script({.kind = Fault::endless, .times = 1000});
  const auto client = make_client({.whole = http::Seconds{0.05}});
  EXPECT_THROW((void)client.list(uri_), Error);
}

TEST_F(S3DownloadFaults, OfAServerThatIsNotThereNamesItsSetting) {
  s3::SessionOptions options{.endpoint = http::Url{"http", "127.0.0.1", "1"},
                             .path_style = true,
                             .timing = time_.timing()};
  const s3::Client nobody{std::make_unique<s3::Session>(std::make_unique<http::BeastTransport>(),
                                                        std::make_unique<s3::Anonymous>(),
                                                        std::move(options))};
  const auto message = problem_of([&] { (void)nobody.stat(uri_); });
  EXPECT_NE(message.find("127.0.0.1:1"), std::string::npos) << message;
  EXPECT_NE(message.find("see AWS_ENDPOINT_URL"), std::string::npos) << message;
}

TEST_F(S3DownloadFaults, UsesConnectionsAgain) {
  const auto client = make_client();
  for (int i = 0; i < 3; ++i) {
    buckets::download_version(client, client.stat(uri_), file_,
                              {.range_bytes = s3_piece, .threads = 2});
  }
  EXPECT_LE(server_.connections(), 3);
}

}  // namespace
}  // namespace seqtrain::tests
