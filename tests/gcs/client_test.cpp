#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/gcs/client.hpp>

#include "support/offline_storage.hpp"

namespace seqtrain::tests {
namespace {

class Client : public testing::Test {
 protected:
  std::string read(std::uint64_t offset, std::uint64_t size) {
    std::string text;
    client_.read(client_.stat({"bucket", "a"}), offset, size,
                 [&](std::span<const std::byte> bytes) {
                   text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                 });
    return text;
  }

  std::string get(const gcs::Uri& uri) {
    std::string text;
    client_.read(uri, [&](std::span<const std::byte> bytes) {
      text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    });
    return text;
  }

  OfflineStorage service_;
  gcs::Client client_ = service_.client();
};

TEST_F(Client, NamesOfEveryKindComeBackAsTheyWere) {
  for (const std::string name :
       {"a b", "100%", "%2F", "a#1?x=1&y+z", "ü/日本", "a//b", "x/..", "~'\"\\", "tab\t"}) {
    const gcs::Uri uri{"bucket", name};
    client_.put(uri, "content of " + name);
    EXPECT_EQ(service_.storage.read(name), "content of " + name);
    EXPECT_EQ(get(uri), "content of " + name);
    EXPECT_EQ(client_.stat(uri).uri, uri);
    EXPECT_EQ(client_.list(gcs::Uri{"bucket"}).at(0).uri, uri);
    EXPECT_TRUE(client_.remove(uri));
    EXPECT_FALSE(client_.remove(uri));
  }
}

TEST_F(Client, AContentThatLooksLikeTheEnvelopeArrives) {
  const std::string text = "\r\n--seqtrain--\r\n--seqtrain\r\n\r\nseqtrain";
  client_.put({"bucket", "a"}, text);
  EXPECT_EQ(get({"bucket", "a"}), text);
}

TEST_F(Client, StatTells) {
  client_.put({"bucket", "a"}, "text", {.content_type = "text/html"});
  const auto info = client_.stat({"bucket", "a"});
  EXPECT_EQ(info.size, 4u);
  EXPECT_EQ(info.crc32c, Crc32c{}.update("text"));
  EXPECT_EQ(info.content_type, "text/html");
  EXPECT_EQ(info.modified, "2026-01-31T09:05:00.250Z");
  EXPECT_THROW((void)client_.stat({"bucket", "b"}), gcs::NotFound);
  EXPECT_FALSE(client_.find({"bucket", "b"}));
  EXPECT_THROW((void)client_.stat({"bucket", ""}), InputError);
}

TEST_F(Client, ListsPageByPage) {
  service_.storage.page_size = 3;
  for (int i = 10; i < 20; ++i) service_.storage.write("dir/" + std::to_string(i), "x");
  service_.storage.write("dirt", "x");
  const auto found = client_.list({"bucket", "dir/"});
  ASSERT_EQ(found.size(), 10u);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(found[static_cast<std::size_t>(i)].uri.name, "dir/" + std::to_string(10 + i));
  EXPECT_EQ(service_.requests, 4);
  EXPECT_TRUE(client_.list({"bucket", "none"}).empty());
  EXPECT_THROW((void)client_.list(gcs::Uri{"other-bucket"}), gcs::NotFound);
}

TEST_F(Client, ReadsRanges) {
  service_.storage.write("a", "0123456789");
  EXPECT_EQ(read(0, 10), "0123456789");
  EXPECT_EQ(read(3, 4), "3456");
  EXPECT_EQ(read(9, 1), "9");
  EXPECT_EQ(read(5, 0), "");
}

TEST_F(Client, TakesUpAnswersThatAreTooShort) {
  service_.storage.write("a", "0123456789");
  service_.storage.short_reads = 3;
  EXPECT_EQ(read(1, 8), "12345678");
}

TEST_F(Client, RefusesAnotherRangeThanItAskedFor) {
  service_.storage.write("a", "0123456789");
  service_.storage.no_ranges = true;
  EXPECT_THROW(read(3, 4), Error);
}

TEST_F(Client, NoticesDamage) {
  service_.storage.write("a", "0123456789");
  service_.storage.damage_reads = 1;
  EXPECT_THROW(get({"bucket", "a"}), Error);
  EXPECT_EQ(get({"bucket", "a"}), "0123456789");
}

TEST_F(Client, WritesUnderConditions) {
  const gcs::Uri uri{"bucket", "a"};
  const auto first = client_.put(uri, "1", {.if_generation = 0});
  EXPECT_THROW(client_.put(uri, "2", {.if_generation = 0}), gcs::PreconditionFailed);
  EXPECT_THROW(client_.remove(uri, first.generation + 1), gcs::PreconditionFailed);
  client_.put(uri, "2", {.if_generation = first.generation});
  EXPECT_EQ(get(uri), "2");
}

TEST_F(Client, CopiesInsideTheService) {
  client_.put({"bucket", "a/1"}, "text");
  EXPECT_EQ(client_.copy({"bucket", "a/1"}, {"bucket", "b/2"}).size, 4u);
  EXPECT_EQ(get({"bucket", "b/2"}), "text");
  EXPECT_THROW(client_.copy({"bucket", "a/1"}, {"bucket", "b/2"}, {.if_generation = 0}),
               gcs::PreconditionFailed);
  EXPECT_THROW(client_.copy({"bucket", "none"}, {"bucket", "b/2"}), gcs::NotFound);
}

TEST_F(Client, TellsThatThereIsNoBucket) {
  try {
    client_.put({"other-bucket", "a"}, "text");
    FAIL() << "written";
  } catch (const gcs::NotFound& error) {
    EXPECT_EQ(std::string{error.what()},
              "gs://other-bucket/a: no such bucket: The specified bucket does not exist.");
  }
}

/// Returns a client whose service always answers `answer`.
gcs::Client told(const std::string& answer) {
  return gcs::Client{
      std::make_unique<gcs::Session>(std::make_unique<FakeTransport>([answer](const auto&) {
                                       return http::Response{200, {}, answer};
                                     }),
                                     std::make_unique<gcs::Anonymous>(), gcs::SessionOptions{})};
}

TEST(ClientAnswers, ThatMakeNoSenseAreErrors) {
  for (const char* answer :
       {"", "[]", "null", "{", R"({"name": 1})", R"({"name": "a", "generation": "x", "size": "1"})",
        R"({"name": "a", "generation": "1", "size": "-1"})",
        R"({"name": "a", "generation": "1", "size": -1})",
        R"({"name": "a", "generation": "99999999999999999999", "size": "1"})"}) {
    EXPECT_THROW((void)told(answer).stat({"bucket", "a"}), Error) << answer;
  }
  EXPECT_THROW((void)told(R"({"nextPageToken": "same"})").list(gcs::Uri{"bucket"}), Error);
  const auto without_checksum = told(R"({"name": "a", "generation": "1", "size": "0"})");
  EXPECT_THROW(without_checksum.read({"bucket", "a"}, [](std::span<const std::byte>) {}), Error);
}

TEST(ClientList, EndsWhereAPageTokenRepeats) {
  auto repeating = std::make_unique<FakeTransport>([](const FakeTransport::Seen&) {
    return http::Response{200, {}, R"({"nextPageToken": "again"})"};
  });
  const gcs::Client client{std::make_unique<gcs::Session>(
      std::move(repeating), std::make_unique<gcs::Anonymous>(), gcs::SessionOptions{})};
  try {
    (void)client.list({"bucket", "runs/"});
    FAIL() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "gs://bucket/runs/: no more pages: the page token repeats");
  }
}

}  // namespace
}  // namespace seqtrain::tests
