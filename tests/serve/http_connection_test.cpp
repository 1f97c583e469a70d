#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/environment.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/serve/http_connection.hpp>
#include <seqtrain/serve/http_reader.hpp>

#include "support/echo_server.hpp"
#include "support/http_client.hpp"

namespace seqtrain::serve {
namespace {

using tests::EchoServer;
using tests::HttpClient;

constexpr HttpReader::Limits tight_limits{.header = 2048, .body = 4000};

/// Makes the bytes that a client sends: requests one after the other, whole or damaged.
class Requests {
 public:
  explicit Requests(std::uint64_t seed) : random_{seed} {}

  /// Returns a number from 0 to below `count`.
  std::size_t below(std::size_t count) { return random_() % count; }

  std::string bytes() {
    std::string all;
    const std::size_t count = 1 + below(6);
    for (std::size_t i = 0; i < count; ++i) all += request();
    if (below(2) == 0) {
      for (std::size_t i = 1 + below(3); i > 0; --i) damage(all);
    }
    return all;
  }

  /// Divides the bytes into parts of random sizes.
  std::vector<std::string_view> parts(std::string_view bytes) {
    const std::size_t most = 1 + below(below(2) == 0 ? 20 : 3000);
    std::vector<std::string_view> parts;
    while (!bytes.empty()) {
      parts.push_back(bytes.substr(0, 1 + below(most)));
      bytes.remove_prefix(parts.back().size());
    }
    return parts;
  }

 private:
  template <class T>
  const T& one_of(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }

  std::string request() {
    const std::string target = one_of<std::string>({"/x", "/later", "http://x/y", "/x?a=b"});
    const bool old = below(8) == 0;
    std::string head = " " + target + (old ? " HTTP/1.0\r\n" : " HTTP/1.1\r\nHost: x\r\n");
    if (old && below(2) == 0) head += "Connection: keep-alive\r\n";
    if (below(20) == 0) head += "Connection: close\r\n";
    if (below(4) == 0) head += "X-Long: " + std::string(below(500), 'a') + "\r\n";
    if (below(3) == 0) return one_of<std::string>({"GET", "HEAD"}) + head + "\r\n";
    const std::string body(below(8) == 0 ? below(4100) : below(60), 'b');
    if (below(8) == 0) head += "Expect: 100-continue\r\n";
    if (old || below(2) == 0) {
      return "POST" + head + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    }
    return "POST" + head + "Transfer-Encoding: chunked\r\n\r\n" + chunks(body);
  }

  std::string chunks(std::string_view body) {
    std::string text;
    while (!body.empty()) {
      const auto chunk = body.substr(0, 1 + below(40));
      const char digits[] = "0123456789abcdef";
      if (chunk.size() > 15) text += digits[chunk.size() / 16];
      text += digits[chunk.size() % 16];
      text += one_of<std::string>({"", "", ";a=b", " ;a"}) + "\r\n" + std::string{chunk} + "\r\n";
      body.remove_prefix(chunk.size());
    }
    return text + "0\r\n" + one_of<std::string>({"", "", "Trailer: x\r\n"}) + "\r\n";
  }

  void damage(std::string& bytes) {
    const std::size_t at = below(bytes.size() + 1);
    const std::size_t size = std::min(below(30), bytes.size() - at);
    switch (below(4)) {
      case 0:
        bytes.erase(at, size);
        break;
      case 1:
        bytes.insert(at, bytes.substr(at, size));
        break;
      case 2:
        if (at < bytes.size()) bytes[at] = static_cast<char>(below(256));
        break;
      default:
        bytes.insert(at, one_of<std::string>({"\r\n", "\n", "\r", " ", ":", std::string(1, '\0'),
                                              "\r\n\r\n", "0\r\n\r\n", "Content-Length: 5\r\n",
                                              "Transfer-Encoding: chunked\r\n", "Host: y\r\n",
                                              "Transfer-Encoding: x\r\n", ",", ";"}));
    }
  }

  std::mt19937_64 random_;
};

/// The requests in a client's bytes, up to the last one that is answered, and whether the server
/// refuses what comes next.
struct Expected {
  std::vector<HttpRequest> requests = {};
  bool refused = false;
};

Expected expected(std::string_view bytes) {
  HttpReader reader{tight_limits};
  Expected found;
  for (;;) {
    std::size_t used = 0;
    const auto step = reader.read(bytes, used);
    bytes.remove_prefix(used);
    if (step == HttpReader::Step::proceed) continue;
    found.refused = step == HttpReader::Step::refused;
    if (step != HttpReader::Step::complete) return found;
    found.requests.push_back(reader.take());
    if (!found.requests.back().keep_alive) return found;
  }
}

/// Reads the replies to a client's bytes and compares them with what is expected.
void expect_replies(HttpClient& client, const Expected& wanted) {
  const auto next = [&client](bool head = false) {
    for (;;) {
      auto reply = client.read(head);
      if (reply.status != 100) return reply;
    }
  };
  for (const HttpRequest& request : wanted.requests) {
    const bool head = request.method == "HEAD";
    const auto reply = next(head);
    ASSERT_EQ(reply.status, 200) << request.method << " " << request.target;
    if (head) continue;
    const bool later = request.path() == "/later";
    EXPECT_EQ(reply.body, later ? "late" : request.method + ":" + request.body);
  }
  if (wanted.refused) {
    EXPECT_GE(next().status, 400);
  }
  if (wanted.refused || (!wanted.requests.empty() && !wanted.requests.back().keep_alive)) {
    EXPECT_TRUE(client.is_closed());
  }
}

/// One client: it sends bytes in parts, and reads all answers, or ends in the middle.
void be_a_client(std::uint16_t port, std::uint64_t seed) {
  Requests source{seed};
  const std::string bytes = source.bytes();
  const Expected wanted = expected(bytes);
  HttpClient client{port};
  const std::size_t way = source.below(8);  // most clients wait for their answers
  const auto parts = source.parts(bytes);
  const std::size_t sent = way == 0 ? source.below(parts.size() + 1) : parts.size();
  for (std::size_t i = 0; i < sent; ++i) {
    if (!client.send(parts[i])) break;
    if (source.below(4) == 0) std::this_thread::yield();
  }
  switch (way) {
    case 0:
      return client.reset();
    case 1:
      client.end_sending();
      while (client.read().status != 0) {
      }
      return;
    case 2:
      return client.close();
    default:
      expect_replies(client, wanted);
  }
}

/// Damaged requests come in parts of any size, several in a row, and clients end at any place. The
/// answers must be those to the requests that a reader finds in the whole bytes.
/// `SEQTRAIN_HTTP_CONNECTIONS` sets the number of connections.
TEST(HttpConnection, AnswersWhatTheReaderReadsHoweverItArrives) {
  const auto named = process_environment("SEQTRAIN_HTTP_CONNECTIONS");
  const auto count = parse_number<std::uint64_t>(named.value_or("500")).value();
  EchoServer echo{{.limits = tight_limits}};
  const std::jthread answers{[&echo](const std::stop_token& stop) {
    for (; !stop.stop_requested(); std::this_thread::yield()) echo.answer_kept();
  }};
  for (std::uint64_t seed = 0; seed < count && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    be_a_client(echo.port(), seed);
  }
  // A connection gives its bytes back when its last step has ended.
  while (echo.metrics.connections > 0 || echo.server.buffered_bytes() > 0) {
    std::this_thread::yield();
  }
}

}  // namespace
}  // namespace seqtrain::serve
