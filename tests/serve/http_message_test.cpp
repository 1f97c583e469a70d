#include <string>

#include <gtest/gtest.h>

#include <seqtrain/serve/http_message.hpp>

namespace seqtrain::serve {
namespace {

TEST(HttpRequest, PathIsWithoutQueryAndHost) {
  const auto path_of = [](std::string target) {
    return std::string{HttpRequest{.target = std::move(target)}.path()};
  };
  EXPECT_EQ(path_of("/predict"), "/predict");
  EXPECT_EQ(path_of("/predict?a=/b://c"), "/predict");
  EXPECT_EQ(path_of("http://host:80/predict?x"), "/predict");
  EXPECT_EQ(path_of("http://host"), "/");
  EXPECT_EQ(path_of("*"), "*");
  EXPECT_EQ(path_of(""), "");
}

TEST(HttpDate, IsThatOfTheStandard) {
  EXPECT_EQ(http_date(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
}

/// Returns the text without its date.
std::string undated(std::string wire) {
  const auto begin = wire.find("Date: ");
  return wire.erase(begin, wire.find("\r\n", begin) + 2 - begin);
}

TEST(ToWire, WritesHeadAndBody) {
  const HttpResponse response{.body = "{}", .headers = {{"X-A", "b"}}};
  const std::string head =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nX-A: b\r\n";
  EXPECT_EQ(undated(to_wire(response, {.method = "POST"}, true)), head + "\r\n{}");
  EXPECT_EQ(undated(to_wire(response, {.method = "HEAD"}, true)), head + "\r\n");
  EXPECT_EQ(undated(to_wire(response, {.method = "GET"}, false)),
            head + "Connection: close\r\n\r\n{}");
  EXPECT_EQ(undated(to_wire(response, {.method = "GET", .version = 10}, true)),
            head + "Connection: keep-alive\r\n\r\n{}");
  EXPECT_EQ(undated(to_wire({.status = 204}, {.method = "OPTIONS"}, true)),
            "HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(undated(to_wire({.status = 429}, {.method = "GET"}, true)),
            "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n");
}

}  // namespace
}  // namespace seqtrain::serve
