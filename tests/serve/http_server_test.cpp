#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <seqtrain/serve/http_server.hpp>

#include "support/echo_server.hpp"
#include "support/http_client.hpp"

namespace seqtrain::serve {
namespace {

using std::chrono::milliseconds;
using tests::EchoServer;
using tests::HttpClient;

const std::string get_later = "GET /later HTTP/1.1\r\nHost: x\r\n\r\n";

TEST(HttpServer, KeepsConnectionsOpen) {
  EchoServer echo;
  HttpClient client{echo.port()};
  for (int i = 0; i < 3; ++i) {
    const auto reply = client.post("/x", "body " + std::to_string(i));
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, "POST:body " + std::to_string(i));
    EXPECT_FALSE(reply.headers.contains("Connection"));
  }
  const auto last = client.post("/x", "last", "Connection: close\r\n");
  EXPECT_EQ(last.headers.at("Connection"), "close");
  EXPECT_TRUE(client.is_closed());
}

TEST(HttpServer, SpeaksOlderHttp) {
  EchoServer echo;
  HttpClient client{echo.port()};
  client.send("GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(client.read().headers.at("Connection"), "keep-alive");
  client.send("GET /x HTTP/1.0\r\n\r\n");
  EXPECT_EQ(client.read().body, "GET:");
  EXPECT_TRUE(client.is_closed());
}

TEST(HttpServer, AnswersPipelinedRequestsInOrder) {
  EchoServer echo;
  HttpClient client{echo.port()};
  client.send(get_later + "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n2" +
              "HEAD /x HTTP/1.1\r\nHost: x\r\n\r\nPOST /x HTTP/1.1\r\nHost: x\r\nContent-Length: "
              "1\r\n\r\n4");
  echo.await_kept(1);
  echo.answer_kept();
  EXPECT_EQ(client.read().body, "late");
  EXPECT_EQ(client.read().body, "POST:2");
  EXPECT_EQ(client.read(true).headers.at("Content-Length"), "5");
  EXPECT_EQ(client.read().body, "POST:4");
}

TEST(HttpServer, TakesThousandsOfPipelinedRequests) {
  EchoServer echo;
  HttpClient client{echo.port()};
  const std::string one =
      "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n" + std::string(50, 'a');
  std::string all;
  for (int i = 0; i < 3000; ++i) all += one;
  std::jthread sender{[&] { client.send(all); }};
  for (int i = 0; i < 3000; ++i) ASSERT_EQ(client.read().body.size(), 55u) << i;
}

TEST(HttpServer, TakesBodiesInChunks) {
  EchoServer echo;
  HttpClient client{echo.port()};
  client.send("POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  client.send("2\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(client.read().body, "POST:abcde");
}

TEST(HttpServer, LetsAClientProceed) {
  EchoServer echo;
  HttpClient client{echo.port()};
  client.send("POST /x HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(client.read().status, 100);
  client.send("abc");
  EXPECT_EQ(client.read().body, "POST:abc");
}

TEST(HttpServer, RefusesALargeBodyAndIsHeard) {
  EchoServer echo{{.limits = {.body = 1000}}};
  for (const bool in_chunks : {false, true}) {
    HttpClient client{echo.port()};
    const std::string body(300'000, 'a');
    client.send(std::string{"POST /x HTTP/1.1\r\nHost: x\r\n"} +
                (in_chunks ? "Transfer-Encoding: chunked\r\n\r\n493e0\r\n"
                           : "Content-Length: 300000\r\n\r\n"));
    client.send(body);
    const auto reply = client.read();
    EXPECT_EQ(reply.status, 413);
    EXPECT_EQ(reply.body,
              R"({"error":"the body is larger than 1000 bytes","error_type":"Validation"})");
    EXPECT_TRUE(client.is_closed());
  }
  EXPECT_EQ(echo.metrics.failures.count("validation"), 2u);
}

TEST(HttpServer, RunsNoBodyAsARequest) {
  EchoServer echo;
  const std::string inner = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
  for (const std::string coding :
       {"chunked, identity", "identity", "xchunked", "gzip", "\"chunked\"", "",
        "chunked\r\nTransfer-Encoding: chunked", "gzip, chunked"}) {
    HttpClient client{echo.port()};
    client.send("POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: " + coding + "\r\n\r\n" + inner);
    EXPECT_GE(client.read().status, 400) << coding;
    EXPECT_TRUE(client.is_closed()) << coding;
  }
}

TEST(HttpServer, KeepsNothingThatARefusedClientStillSends) {
  EchoServer echo{{.limits = {.body = 1000}}};
  HttpClient client{echo.port()};
  client.send("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 90000000\r\n\r\n" +
              std::string(30'000, 'a'));
  EXPECT_EQ(client.read().status, 413);
  std::size_t most = 0;
  const std::string more(100'000, 'a');
  for (int i = 0; i < 300 && client.send(more); ++i) {
    most = std::max(most, echo.server.buffered_bytes());
  }
  EXPECT_LE(most, 100'000u);
}

TEST(HttpServer, KeepsLittleOfPipelinedRequests) {
  EchoServer echo;
  const std::string one = "GET /x HTTP/1.1\r\nHost: x\r\nX: " + std::string(900, 'a') + "\r\n\r\n";
  std::string all;
  for (int i = 0; i < 100; ++i) all += one;
  HttpClient client{echo.port()};
  std::size_t most = 0;
  std::jthread sender{[&] {
    for (int i = 0; i < 100; ++i) client.send(all);
  }};
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_EQ(client.read().status, 200) << i;
    most = std::max(most, echo.server.buffered_bytes());
  }
  EXPECT_LE(most, 300'000u);
}

TEST(HttpServer, EndsAHeaderThatComesLineByLine) {
  EchoServer echo;
  HttpClient client{echo.port()};
  client.post("/x", "");
  client.send("GET /x HTTP/1.1\r\n");
  const std::string line = "X: " + std::string(1000, 'a') + "\r\n";
  for (int i = 0; i < 17; ++i) {
    client.send(line);
    std::this_thread::yield();
  }
  EXPECT_EQ(client.read().status, 431);
}

TEST(HttpServer, RefusesBodiesBeyondItsBudget) {
  EchoServer echo{{.limits = {.body = 100'000}, .max_buffered_bytes = 150'000}};
  HttpClient slow{echo.port()};
  slow.send("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" +
            std::string(90'000, 'a'));
  while (echo.server.buffered_bytes() < 90'000) std::this_thread::yield();
  HttpClient other{echo.port()};
  const auto refused = other.post("/x", std::string(70'000, 'b'));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.headers.at("Retry-After"), "1");
  EXPECT_EQ(refused.headers.at("Connection"), "close");
  EXPECT_EQ(HttpClient{echo.port()}.get("/x").status, 200);
  slow.send(std::string(10'000, 'a'));
  EXPECT_EQ(slow.read().body.size(), 100'005u);
  while (echo.server.buffered_bytes() > 0) std::this_thread::yield();
  EXPECT_EQ(HttpClient{echo.port()}.post("/x", std::string(60'000, 'b')).status, 200);
}

TEST(HttpServer, GivesNoMemoryToBodiesThatAreOnlyAnnounced) {
  EchoServer echo{{.max_buffered_bytes = 2'000'000}};
  std::list<HttpClient> clients;
  for (int i = 0; i < 200; ++i) {
    clients.emplace_back(echo.port())
        .send("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 1500000\r\n\r\na");
  }
  while (echo.metrics.connections < 200) std::this_thread::yield();
  EXPECT_EQ(HttpClient{echo.port()}.post("/x", std::string(1'000'000, 'b')).status, 200);
  while (echo.server.buffered_bytes() > 200) std::this_thread::yield();
}

TEST(HttpServer, AnswersThatAreNotReadCountToo) {
  constexpr std::size_t large = 32'000'000;
  EchoServer echo{{.limits = {.body = large}, .max_buffered_bytes = large + 1000}};
  std::optional<HttpClient> deaf{echo.port()};
  deaf->send("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 32000000\r\n\r\n" +
             std::string(large, 'a'));
  while (echo.server.buffered_bytes() != large) std::this_thread::yield();  // the body arrives
  while (echo.server.buffered_bytes() <= large) std::this_thread::yield();  // the answer waits
  HttpClient client{echo.port()};
  EXPECT_EQ(client.get("/x").status, 200);
  EXPECT_EQ(client.post("/x", std::string(2000, 'b')).status, 503);
  deaf.reset();
  while (echo.server.buffered_bytes() > 0) std::this_thread::yield();
  EXPECT_EQ(HttpClient{echo.port()}.post("/x", std::string(2000, 'b')).status, 200);
}

TEST(HttpServer, OutlivesALackOfMemory) {
  EchoServer echo;
  for (const std::string path : {"/no-memory", "/no-memory-later"}) {
    HttpClient client{echo.port()};
    const auto reply = client.post(path, "body");
    EXPECT_EQ(reply.status, 503) << path;
    EXPECT_EQ(reply.headers.at("Retry-After"), "1");
    EXPECT_TRUE(client.is_closed());
  }
  HttpClient client{echo.port()};
  EXPECT_EQ(client.get("/throw").status, 500);
  EXPECT_EQ(HttpClient{echo.port()}.get("/x").status, 200);
}

TEST(HttpServer, RefusesHugeHeaders) {
  EchoServer echo;
  HttpClient client{echo.port()};
  std::string header = "GET / HTTP/1.1\r\nHost: x\r\n";
  while (header.size() < 100'000) header += "X-Some-Name: some value\r\n";
  client.send(header);
  EXPECT_EQ(client.read().status, 431);
  EXPECT_TRUE(client.is_closed());
}

TEST(HttpServer, RefusesWhatIsNotHttp) {
  EchoServer echo;
  for (const std::string bytes :
       {"hello\r\n\r\n", "\x16\x03\x01\x02\x01", "GET / HTTP/3\r\n\r\n"}) {
    HttpClient client{echo.port()};
    client.send(bytes);
    EXPECT_GE(client.read().status, 400);
    EXPECT_TRUE(client.is_closed());
  }
}

TEST(HttpServer, EndsSlowHeadersAndBodies) {
  EchoServer echo{{.timeouts = {.header = milliseconds{50}, .body = milliseconds{50}}}};
  for (const std::string start :
       {"GET / HT", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nab"}) {
    HttpClient client{echo.port()};
    client.send(start);
    std::atomic<bool> answered = false;
    std::jthread drip{[&] {
      while (!answered && client.send("a")) std::this_thread::sleep_for(milliseconds{5});
    }};
    const auto reply = client.read();
    answered = true;
    EXPECT_EQ(reply.status, 408) << start;
    EXPECT_EQ(reply.headers.at("Connection"), "close");
  }
}

TEST(HttpServer, ClosesConnectionsThatAreIdle) {
  EchoServer echo{{.timeouts = {.header = milliseconds{50}, .idle = milliseconds{50}}}};
  HttpClient silent{echo.port()};
  EXPECT_TRUE(silent.is_closed());
  HttpClient idle{echo.port()};
  EXPECT_EQ(idle.get("/x").status, 200);
  EXPECT_TRUE(idle.is_closed());
}

TEST(HttpServer, EndsAClientThatDoesNotRead) {
  EchoServer echo{{.limits = {.body = 64'000'000}, .timeouts = {.write = milliseconds{50}}}};
  HttpClient client{echo.port()};
  client.post("/warm-up", "");
  const std::string body(20'000'000, 'a');
  std::jthread sender{[&] {
    client.send("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 20000000\r\n\r\n");
    client.send(body);
  }};
  sender.join();
  while (echo.metrics.connections > 0) std::this_thread::yield();
}

TEST(HttpServer, NoticesClientsThatHangUp) {
  EchoServer echo;
  std::list<HttpClient> clients;
  for (int i = 0; i < 3; ++i) clients.emplace_back(echo.port()).send(get_later);
  echo.await_kept(3);
  clients.front().close();
  clients.pop_front();
  clients.front().reset();
  clients.pop_front();
  // The server cannot distinguish this client from one that has gone.
  clients.front().end_sending();
  while (echo.hung_up < 3 || echo.metrics.connections > 0) std::this_thread::yield();
  echo.answer_kept();
}

TEST(HttpServer, NoticesThatAlsoAfterPipelinedRequests) {
  EchoServer echo;
  std::optional<HttpClient> client{echo.port()};
  client->send(get_later + "GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
  echo.await_kept(1);
  client.reset();
  while (echo.hung_up < 1) std::this_thread::yield();
}

TEST(HttpServer, ARequestThatIsForgottenGets500) {
  EchoServer echo;
  HttpClient client{echo.port()};
  EXPECT_EQ(client.get("/forget").status, 500);
  EXPECT_EQ(client.get("/x").status, 200);
}

TEST(HttpServer, OnlyTheFirstAnswerCounts) {
  EchoServer echo;
  HttpClient client{echo.port()};
  client.send(get_later);
  echo.await_kept(1);
  const Responder copy = echo.kept.front();
  echo.answer_kept();
  copy.send({.body = "second"});
  EXPECT_EQ(client.read().body, "late");
  EXPECT_EQ(client.get("/x").body, "GET:");
}

TEST(HttpServer, DrainsWithoutLosingAnAnswer) {
  EchoServer echo;
  HttpClient idle{echo.port()};
  EXPECT_EQ(idle.get("/x").status, 200);
  HttpClient busy{echo.port()};
  busy.send(get_later);
  echo.await_kept(1);
  std::jthread drainer{[&] { echo.server.drain(); }};
  EXPECT_TRUE(idle.is_closed());
  echo.answer_kept();
  const auto reply = busy.read();
  EXPECT_EQ(reply.body, "late");
  EXPECT_EQ(reply.headers.at("Connection"), "close");
  busy.close();
  drainer.join();
  EXPECT_THROW(HttpClient{echo.port()}, std::system_error);
}

TEST(HttpServer, WithAllConnectionsTakenIdleOnesMakeRoom) {
  EchoServer echo{{.max_connections = 3, .timeouts = {.header = milliseconds{200}}}};
  std::list<HttpClient> clients;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(clients.emplace_back(echo.port()).get("/x").status, 200) << i;
    EXPECT_LE(echo.metrics.connections, 3);
  }
}

TEST(HttpServer, ClientsThatSendNothingMakeRoomToo) {
  EchoServer echo{{.max_connections = 3, .timeouts = {.header = std::chrono::hours{1}}}};
  std::list<HttpClient> silent;
  for (int i = 0; i < 20; ++i) silent.emplace_back(echo.port());
  HttpClient client{echo.port()};
  EXPECT_EQ(client.get("/x").status, 200);
  EXPECT_LE(echo.metrics.connections, 3);
  // The oldest go first: the client that was just served stays.
  HttpClient next{echo.port()};
  EXPECT_EQ(next.get("/x").status, 200);
  EXPECT_EQ(client.get("/x").status, 200);
}

/// Tells whether a server that is about to stop closes an idle connection or does not accept it.
bool is_turned_away(std::uint16_t port) {
  try {
    HttpClient idle{port};
    idle.end_sending();
    return idle.is_closed();
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::connection_refused) throw;
    return true;
  }
}

TEST(HttpServer, AStopAnswersAllThatHasArrived) {
  EchoServer echo;
  HttpClient client{echo.port()};
  const std::string one =
      "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n" + std::string(50, 'a');
  std::string all = get_later;
  for (int i = 0; i < 500; ++i) all += one;
  client.send(all);
  client.await_arrival();
  echo.await_kept(1);
  std::jthread drainer{[&] { echo.server.drain(); }};
  EXPECT_TRUE(is_turned_away(echo.port()));
  echo.answer_kept();
  EXPECT_EQ(client.read().body, "late");
  for (int i = 1; i <= 500; ++i) {
    const auto reply = client.read();
    ASSERT_EQ(reply.status, 200) << i;
    EXPECT_EQ(reply.headers.contains("Connection"), i == 500) << i;
  }
  EXPECT_TRUE(client.is_closed());
}

TEST(HttpServer, AStopAnswersClientsThatWereNotAcceptedYet) {
  PrometheusMetrics metrics;
  HttpServer server{{.host = "127.0.0.1", .port = 0}, metrics};
  std::list<HttpClient> clients;
  for (int i = 0; i < 30; ++i) {
    clients.emplace_back(server.port()).send("GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  server.start(
      [](const HttpRequest&, const Responder& responder) { responder.send({.body = "x"}); });
  std::jthread drainer{[&] { server.drain(); }};
  for (HttpClient& client : clients) {
    EXPECT_EQ(client.read().status, 200);
    client.close();
  }
}

TEST(HttpServer, StandsTenThousandConnections) {
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  // This process holds both ends of each connection.
  const auto count = std::min<std::size_t>(10'000, (files.rlim_cur - 200) / 2);
  EchoServer echo{{.timeouts = {.header = std::chrono::hours{1}}}};  // on a slow machine too
  std::list<HttpClient> clients;
  for (std::size_t i = 0; i < count; ++i) {
    clients.emplace_back(echo.port());
    if (i % 3 == 1) clients.back().send("GET / HT");
    if (i % 3 == 2) {
      ASSERT_EQ(clients.back().get("/x").status, 200);
    }
  }
  EXPECT_EQ(HttpClient{echo.port()}.get("/x").status, 200);
  for (std::size_t i = 0; auto& client : clients) {
    if (i++ % 3 == 1) client.send("TP/1.1\r\nHost: x\r\n\r\n");
  }
  for (std::size_t i = 0; auto& client : clients) {
    if (i++ % 3 == 1) {
      ASSERT_EQ(client.read().status, 200) << i;
    }
  }
  std::cout << count << " connections\n";
}

TEST(HttpServer, SaysThatAPortIsTaken) {
  EchoServer echo;
  PrometheusMetrics metrics;
  try {
    const HttpServer second{{.host = "127.0.0.1", .port = echo.port()}, metrics};
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string{error.what()}.find(":" + std::to_string(echo.port()) + ": cannot listen"),
              std::string::npos)
        << error.what();
  }
  EXPECT_THROW((HttpServer{{.host = "no address"}, metrics}), InputError);
}

}  // namespace
}  // namespace seqtrain::serve
