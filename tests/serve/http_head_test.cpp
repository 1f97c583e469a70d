#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/http_head.hpp>

namespace seqtrain::serve {
namespace {

/// Returns the status with which a head is refused, or 200.
int status_of(const std::string& head) {
  try {
    static_cast<void>(parse_head(head));
    return 200;
  } catch (const HttpError& refusal) {
    return refusal.status();
  }
}

/// A form of the first line or of header fields, with its status.
struct Form {
  std::string text;
  int status;
};

void expect_fields(const std::vector<Form>& forms) {
  for (const auto& [fields, status] : forms) {
    EXPECT_EQ(status_of("POST /predict HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n\r\n"), status)
        << fields;
  }
}

TEST(HttpHead, TakesOnlyOneTransferEncoding) {
  expect_fields({{"Transfer-Encoding: chunked", 200},
                 {"transfer-encoding:chunked", 200},
                 {"Transfer-Encoding: \tChunked \t", 200},
                 {"Transfer-Encoding: chunked, identity", 400},
                 {"Transfer-Encoding: chunked, gzip", 400},
                 {"Transfer-Encoding: chunked, chunked", 400},
                 {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 400},
                 {"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", 400},
                 {"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked", 501},
                 {"Transfer-Encoding:", 400},
                 {"Transfer-Encoding: ,", 400},
                 {"Transfer-Encoding: chunked,", 400},
                 {"Transfer-Encoding: ,chunked", 400},
                 {"Transfer-Encoding: \"chunked\"", 400},
                 {"Transfer-Encoding: chunked;q=1", 400},
                 {"Transfer-Encoding: chunked;", 400},
                 {"Transfer-Encoding: chunked chunked", 400},
                 {"Transfer-Encoding: ch\xC5\xABnked", 400},
                 {"Transfer-Encoding: chunked\x0b", 400},
                 {"Transfer-Encoding: identity", 501},
                 {"Transfer-Encoding: xchunked", 501},
                 {"Transfer-Encoding: chunkedx", 501},
                 {"Transfer-Encoding: gzip", 501},
                 {"Transfer-Encoding: gzip, chunked", 501},
                 {"Transfer-Encoding: identity, chunked", 501},
                 {"Transfer-Encoding: xchunked\r\nContent-Length: 5", 501},
                 {"Transfer-Encoding: chunked\r\nContent-Length: 5", 400},
                 {"Content-Length: 5\r\nTransfer-Encoding: chunked", 400},
                 // Names that only a careless reader takes for Transfer-Encoding.
                 {"Transfer-Encoding : chunked", 400},
                 {"Transfer-Encoding\t: chunked", 400},
                 {" Transfer-Encoding: chunked", 400},
                 {"Transfer-Encoding\r\n: chunked", 400},
                 {"X: y\r\n Transfer-Encoding: chunked", 400},
                 {"X: y\rTransfer-Encoding: chunked", 400},
                 {"X: y\nTransfer-Encoding: chunked", 400},
                 {"Transfer-Encoding:\r\n chunked", 400},
                 {"Transfer_Encoding: chunked", 200}});  // another field
  EXPECT_EQ(status_of("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
}

TEST(HttpHead, TakesOnlyOneContentLength) {
  expect_fields({{"Content-Length: 0", 200},
                 {"Content-Length: 005", 200},
                 {"Content-Length: 18446744073709551615", 200},  // the limit of bodies refuses it
                 {"Content-Length: 18446744073709551616", 400},
                 {"Content-Length: 5\r\nContent-Length: 5", 400},
                 {"Content-Length: 5\r\nContent-Length: 6", 400},
                 {"Content-Length: 5, 5", 400},
                 {"Content-Length: 5,", 400},
                 {"Content-Length:", 400},
                 {"Content-Length: +5", 400},
                 {"Content-Length: -5", 400},
                 {"Content-Length: -0", 400},
                 {"Content-Length: 0x5", 400},
                 {"Content-Length: 5.0", 400},
                 {"Content-Length: 5 5", 400},
                 {"Content-Length: 5;a", 400},
                 {"Content-Length: \"5\"", 400},
                 {"Content-Length : 5", 400},
                 {"Content-Length: 5\x0c", 400},
                 {std::string{"Content-Length: 5\0", 18}, 400},
                 {std::string{"Content-Length\0: 5", 18}, 400}});
}

TEST(HttpHead, NeedsOneHost) {
  const auto with = [](std::string_view hosts, std::string_view version = "1.1") {
    return status_of("GET / HTTP/" + std::string{version} + "\r\n" + std::string{hosts} + "\r\n");
  };
  for (const char* host :
       {"x", "x:80", "x:", "", "localhost:8080", "127.0.0.1", "my_host-1.example.org", "[::1]",
        "[::1]:8080", "xn--zrich-kva.ch", "a%20b"}) {
    EXPECT_EQ(with("Host: " + std::string{host} + "\r\n"), 200) << host;
  }
  for (const char* host :
       {"a b", "a, b", "a@b", "http://a", "a/b", "a:b", "a:80:80", "a:-1", "[::1", "::1", "[]",
        "[x]", "[::1]x", "a?b", "a#b", "a\\b", "\"a\"", "<a>", "\xC3\xBC"}) {
    EXPECT_EQ(with("Host: " + std::string{host} + "\r\n"), 400) << host;
    EXPECT_EQ(with("Host: " + std::string{host} + "\r\n", "1.0"), 400) << host;
  }
  EXPECT_EQ(with(""), 400);
  EXPECT_EQ(with("", "1.0"), 200);
  EXPECT_EQ(with("Host: x\r\nHost: x\r\n"), 400);
  EXPECT_EQ(with("Host: x\r\nhost: y\r\n"), 400);
  EXPECT_EQ(with("Host: x\r\nHost: x\r\n", "1.0"), 400);
  EXPECT_EQ(with("Host : x\r\n"), 400);
}

TEST(HttpHead, TakesPathsAndUrls) {
  const std::vector<Form> forms{{"GET / HTTP/1.1", 200},
                                {"get / HTTP/1.1", 200},  // another method, which the paths refuse
                                {"GET /a?b=/c HTTP/1.1", 200},
                                {"GET //a HTTP/1.1", 200},
                                {"GET http://x/a HTTP/1.1", 200},
                                {"GET HTTPS://x:80 HTTP/1.1", 200},
                                {"GET http://[::1]?a HTTP/1.1", 200},
                                {"OPTIONS * HTTP/1.1", 200},
                                {"GET * HTTP/1.1", 400},
                                {"GET a HTTP/1.1", 400},
                                {"GET http:///a HTTP/1.1", 400},
                                {"GET http://:80/a HTTP/1.1", 400},
                                {"GET http://u@x/a HTTP/1.1", 400},
                                {"GET ftp://x/a HTTP/1.1", 400},
                                {"CONNECT x:80 HTTP/1.1", 400},
                                {"GET HTTP/1.1", 400},
                                {"GET", 400},
                                {"GET  HTTP/1.1", 400},
                                {"GET  / HTTP/1.1", 400},
                                {"GET /  HTTP/1.1", 400},
                                {" GET / HTTP/1.1", 400},
                                {"GET\t/\tHTTP/1.1", 400},
                                {"GET / HTTP/1.1 ", 400},
                                {"GET / a HTTP/1.1", 400},
                                {"GET /a\tb HTTP/1.1", 400},
                                {"GET /\x7f HTTP/1.1", 400},
                                {std::string{"GET /\0 HTTP/1.1", 15}, 400},
                                {"G(T / HTTP/1.1", 400},
                                {"GET / http/1.1", 400},
                                {"GET / HTTP/1.10", 400},
                                {"GET / HTTP/1,1", 400},
                                {"GET / HTTP/11", 400},
                                {"GET / HTTP/", 400},
                                {"GET /", 400},
                                {"GET / HTTP/1.2", 505},
                                {"GET / HTTP/0.9", 505},
                                {"GET / HTTP/3", 505},
                                {"PRI / HTTP/2.0", 505}};
  for (const auto& [line, status] : forms) {
    EXPECT_EQ(status_of(line + "\r\nHost: x\r\n\r\n"), status) << line;
  }
}

TEST(HttpHead, TakesFieldsOfPrintableCharacters) {
  expect_fields({{"X: a\tb", 200},
                 {"X: \xC3\xA9", 200},
                 {"X:", 200},
                 {"!#$%&'*+-.^_`|~09az: x", 200},
                 {"X: a\x01", 400},
                 {"X: a\x7f", 400},
                 {": x", 400},
                 {"X", 400},
                 {"X Y: z", 400},
                 {"X(: z", 400},
                 {"\tX: z", 400},
                 {"\xC3\xA9: x", 400},
                 // These fields frame nothing here, in any form.
                 {"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings", 200},
                 {"TE: trailers, chunked", 200},
                 {"Trailer: Content-Length", 200},
                 {"Expect: 200-ok", 200},
                 {"Proxy-Connection: close", 200},
                 {"Keep-Alive: timeout=5", 200}});
}

TEST(HttpHead, KnowsWhetherTheConnectionStays) {
  const auto stays = [](const std::string& version, const std::string& fields) {
    const std::string text = "GET / HTTP/" + version + "\r\nHost: x\r\n" + fields + "\r\n";
    return parse_head(text).keep_alive;
  };
  EXPECT_TRUE(stays("1.1", ""));
  EXPECT_FALSE(stays("1.1", "Connection: close\r\n"));
  EXPECT_FALSE(stays("1.1", "Connection: x, CLOSE\r\n"));
  EXPECT_FALSE(stays("1.1", "Connection: keep-alive\r\nConnection: close\r\n"));
  EXPECT_FALSE(stays("1.0", ""));
  EXPECT_TRUE(stays("1.0", "Connection: Keep-Alive\r\n"));
  EXPECT_FALSE(stays("1.0", "Connection: keep-alive, close\r\n"));
}

TEST(HttpHead, FindsFieldsByName) {
  const std::string text = "GET /a HTTP/1.1\r\nHOST: h\r\nX-Request-Id:  one\t\r\nX-A: \r\n\r\n";
  const HttpHead head = parse_head(text);
  EXPECT_EQ(head["host"], "h");
  EXPECT_EQ(head["x-request-ID"], "one");
  EXPECT_EQ(head["X-A"], "");
  EXPECT_EQ(head["X-B"], "");
  EXPECT_EQ(head.method, "GET");
  EXPECT_EQ(head.target, "/a");
}

}  // namespace
}  // namespace seqtrain::serve
