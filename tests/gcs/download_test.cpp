#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/gcs/download.hpp>

#include "support/gcs_fixture.hpp"

namespace seqtrain::tests {
namespace {

constexpr std::size_t range = 1 << 18;

class Download : public GcsFixture {
 protected:
  Download() { server_.storage.write("a", text_); }

  void download(http::Deadlines deadlines = {}, std::size_t threads = 2) {
    gcs::download(make_client(false, deadlines), {"bucket", "a"}, file_,
                  {.range_bytes = range, .threads = threads});
  }
  void expect_success(Fault fault, http::Deadlines deadlines = {}) {
    server_.script(std::move(fault));
    download(deadlines);
    EXPECT_TRUE(read_file(file_) == text_);
    expect_no_rests(1);
  }
  template <class E>
  std::string expect_failure(http::Deadlines deadlines = {}) {
    const auto message = message_of<E>([&] { download(deadlines); });
    expect_no_rests(0);
    return message;
  }
  void expect_no_rests(int files) {
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator{directory_.path()}, {}), files);
  }

  const std::string text_ = random_text(7 * range + 777);
  TemporaryDirectory directory_;
  const std::filesystem::path file_ = directory_ / "file";
};

TEST_F(Download, OfEverySizeArrives) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, range - 1, range, range + 1, 5 * range}) {
    for (const std::size_t threads : {1, 4}) {
      const auto text = random_text(size);
      server_.storage.write("a", text);
      download({}, threads);
      EXPECT_TRUE(read_file(file_) == text) << size;
    }
  }
}

TEST_F(Download, ReportsItsProgress) {
  std::uint64_t last = 0;
  gcs::download(make_client(), {"bucket", "a"}, file_,
                {.range_bytes = range, .progress = [&](std::uint64_t done) {
                   EXPECT_GT(done, last);
                   last = done;
                 }});
  EXPECT_EQ(last, text_.size());
}

TEST_F(Download, ReplacesAFileOnlyWhenItIsWhole) {
  write_file(file_, "old");
  server_.storage.damage_reads = 1000;
  EXPECT_THROW(download(), Error);
  EXPECT_EQ(read_file(file_), "old");
  server_.storage.damage_reads = 0;
  download();
  EXPECT_TRUE(read_file(file_) == text_);
  expect_no_rests(1);
}

TEST_F(Download, GoesOnAfterACutAnswer) {
  expect_success({.kind = Fault::cut_answer, .contains = "alt=media", .skip = 2, .times = 3});
}

TEST_F(Download, GoesOnWhereTheAnswerBroke) {
  server_.script({.kind = Fault::cut_answer, .contains = "alt=media"});
  download({}, 1);
  EXPECT_TRUE(read_file(file_) == text_);
  EXPECT_EQ(server_.count("alt=media"), 9);
}

TEST_F(Download, GoesOnAfterALostAnswer) {
  expect_success({.kind = Fault::lose_answer, .times = 2});
}

TEST_F(Download, GoesOnAfterAStallInMidAnswer) {
  expect_success({.kind = Fault::stall_within, .contains = "alt=media", .skip = 1},
                 {.read = http::Seconds{0.2}});
}

TEST_F(Download, GoesOnAfterAStall) {
  expect_success({.kind = Fault::stall, .contains = "alt=media"}, {.read = http::Seconds{0.2}});
}

TEST_F(Download, GoesOnAfter503) {
  expect_success(
      {.kind = Fault::answer, .skip = 1, .times = 4, .response = {503, {}, "not the object"}});
}

TEST_F(Download, ReadsChunkedAnswers) {
  expect_success({.kind = Fault::chunked, .times = 3});
}

TEST_F(Download, TakesUpShortAnswers) {
  server_.storage.short_reads = 5;
  download();
  EXPECT_TRUE(read_file(file_) == text_);
}

TEST_F(Download, FetchesOnceMoreWhatArrivesDamaged) {
  server_.storage.damage_reads = 1;
  download();
  EXPECT_TRUE(read_file(file_) == text_);
  EXPECT_NE(logged().find("wrong checksum"), std::string::npos);
}

TEST_F(Download, LeavesNothingOfWhatArrivesDamagedTwice) {
  server_.storage.damage_reads = 1000;
  EXPECT_NE(expect_failure<Error>().find("crc32c"), std::string::npos);
}

TEST_F(Download, EndsAnAnswerThatIsEndless) {
  server_.script({.kind = Fault::endless, .contains = "alt=media"});
  EXPECT_NE(expect_failure<http::TrustError>().find("longer than"), std::string::npos);
}

TEST_F(Download, EndsMetadataThatAreEndless) {
  server_.script({.kind = Fault::endless});
  expect_failure<http::TrustError>();
}

TEST_F(Download, GivesUpOnAServerThatOnlyStalls) {
  server_.script({.kind = Fault::stall, .times = 1000});
  expect_failure<Error>({.read = http::Seconds{0.02}});
}

TEST_F(Download, ABoundOnTheWholeEndsWhatOnlyTrickles) {
  server_.script({.kind = Fault::endless, .times = 1000});
  const auto client = make_client(false, {.whole = http::Seconds{0.05}});
  EXPECT_THROW(static_cast<void>(client.stat({"bucket", "a"})), Error);
}

TEST_F(Download, OfAServerThatIsNotThereIsAnError) {
  const auto nobody = gcs::Client{std::make_unique<gcs::Session>(
      std::make_unique<http::BeastTransport>(), std::make_unique<gcs::Anonymous>(),
      gcs::SessionOptions{.endpoint = {"http", "127.0.0.1", "1"},
                          .is_emulator = true,
                          .timing = time_.timing(),
                          .log = {}})};
  const auto message = message_of<InputError>([&] {
    gcs::download(nobody, {"bucket", "a"}, file_);
  });
  EXPECT_NE(message.find("STORAGE_EMULATOR_HOST"), std::string::npos);
  EXPECT_NE(message.find("127.0.0.1:1"), std::string::npos);
}

TEST_F(Download, OfAnObjectThatIsOverwrittenBeginsAgain) {
  const auto client = make_client();
  const auto old = client.stat({"bucket", "a"});
  server_.storage.write("a", "new");
  EXPECT_THROW(gcs::download_generation(client, old, file_), gcs::NotFound);
  EXPECT_FALSE(std::filesystem::exists(file_));
  gcs::download(client, {"bucket", "a"}, file_);
  EXPECT_EQ(read_file(file_), "new");
}

TEST_F(Download, IntoADirectoryThatIsNotThereIsAnError) {
  EXPECT_THROW(gcs::download(make_client(), {"bucket", "a"}, directory_ / "none/file"), Error);
  EXPECT_THROW(gcs::download(make_client(), {"bucket", "a"}, directory_.path()), Error);
}

TEST_F(Download, ConnectionsAreUsedAgain) {
  const auto client = make_client();
  for (int i = 0; i < 3; ++i)
    gcs::download(client, {"bucket", "a"}, file_, {.range_bytes = range, .threads = 2});
  EXPECT_LE(server_.connections(), 2);
}

}  // namespace
}  // namespace seqtrain::tests
