#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/http_reader.hpp>

namespace seqtrain::serve {
namespace {

/// The results of a reader that gets its bytes in parts of one size: the requests, and the status
/// with which it refuses the rest, or 0.
struct Outcome {
  std::vector<HttpRequest> requests = {};
  int status = 0;
  int proceeds = 0;
};

Outcome read_in_parts(std::string_view bytes, std::size_t part,
                      HttpReader::Limits limits = {.header = 512, .body = 100}) {
  HttpReader reader{limits};
  Outcome outcome;
  std::string received;
  while (!bytes.empty()) {
    const auto size = std::min(part, bytes.size());
    received += bytes.substr(0, size);
    bytes.remove_prefix(size);
    for (;;) {
      std::size_t consumed = 0;
      const HttpReader::Step step = reader.read(received, consumed);
      received.erase(0, consumed);
      if (step == HttpReader::Step::proceed) ++outcome.proceeds;
      if (step == HttpReader::Step::refused) {
        outcome.status = reader.error().status();
        return outcome;
      }
      if (step != HttpReader::Step::complete) break;
      outcome.requests.push_back(reader.take());
    }
  }
  return outcome;
}

TEST(HttpReader, ReadsTheSameHoweverTheBytesArrive) {
  const std::string bytes =
      "GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
      "POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nX-Request-Id: one-1\r\n\r\nhello"
      "\r\n"
      "POST /chunks HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n4;note=x\r\ndefg\r\n0\r\nTrailer: y\r\n\r\n"
      "PATCH /old HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
      "GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  for (std::size_t part = 1; part <= bytes.size(); ++part) {
    const auto [requests, status, proceeds] = read_in_parts(bytes, part);
    EXPECT_EQ(status, 0);
    ASSERT_EQ(requests.size(), 5u) << part;
    EXPECT_EQ(requests[0].target, "/health");
    EXPECT_EQ(requests[0].method, "GET");
    EXPECT_TRUE(requests[0].keep_alive);
    EXPECT_EQ(requests[1].body, "hello");
    EXPECT_EQ(requests[1].id, "one-1");
    EXPECT_EQ(requests[2].body, "abcdefg");
    EXPECT_EQ(requests[3].version, 10u);
    EXPECT_TRUE(requests[3].keep_alive);
    EXPECT_FALSE(requests[4].keep_alive);
  }
}

TEST(HttpReader, RefusesWhatIsNoRequest) {
  const std::string long_line(600, 'a');
  const std::vector<std::pair<std::string, int>> cases{
      {"hello\r\n\r\n", 400},
      {"GET / HTTP/2.0\r\n\r\n", 505},
      {"GET  HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\r\nBad Name: x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\r\nX: a\rb\r\n\r\n", 400},
      {"\x16\x03\x01\x02", 400},  // the bytes of a client that uses TLS
      {"GET /" + long_line + " HTTP/1.1\r\nHost: x\r\n\r\n", 431},
      {"GET / HTTP/1.1\r\nHost: x\r\nX: " + long_line + "\r\n\r\n", 431},
      {"GET / HTTP/1.1\r\nHost: x\r\nX: " + long_line, 431},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n", 413},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
       400},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
       400},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n80\r\n" +
           std::string(128, 'a'),
       413}};
  for (const auto& [bytes, status] : cases) {
    for (const std::size_t part : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
      EXPECT_EQ(read_in_parts(bytes, part).status, status) << bytes.substr(0, 60) << " by " << part;
    }
  }
}

TEST(HttpReader, SaysWhenAClientWaitsToProceed) {
  const std::string head =
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
  const auto waiting = read_in_parts(head, head.size());
  EXPECT_EQ(waiting.proceeds, 1);
  EXPECT_TRUE(waiting.requests.empty());
  EXPECT_EQ(read_in_parts(head + "hello", head.size()).proceeds, 1);
  EXPECT_EQ(read_in_parts(head + "hello", head.size()).requests.at(0).body, "hello");
  EXPECT_EQ(read_in_parts(head + "hello", head.size() + 5).proceeds, 0);
  // A body that is too large is refused before the client sends it.
  EXPECT_EQ(
      read_in_parts(
          "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\nExpect: 100-continue\r\n\r\n", 1)
          .status,
      413);
}

TEST(HttpReader, KeepsOnlyIdsThatCanBeLogged) {
  const auto id_of = [](const std::string& id) {
    return read_in_parts("GET / HTTP/1.1\r\nHost: x\r\nX-Request-Id: " + id + "\r\n\r\n", 1000)
        .requests.at(0)
        .id;
  };
  EXPECT_EQ(id_of("5f0c-2a"), "5f0c-2a");
  EXPECT_EQ(id_of("a b"), "");
  EXPECT_EQ(id_of("\"a\""), "");
  EXPECT_EQ(id_of("\xc3\xa9"), "");
  EXPECT_EQ(id_of(std::string(129, 'a')), "");
}

}  // namespace
}  // namespace seqtrain::serve
