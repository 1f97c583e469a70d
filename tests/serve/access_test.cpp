#include <algorithm>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <seqtrain/serve/access.hpp>

namespace seqtrain::serve {
namespace {

/// Returns the status with which a request is refused, or 200.
int status_of(const AccessOptions& options, const HttpRequest& request, bool open = false) {
  try {
    Access{options}.check(request, open);
    return 200;
  } catch (const HttpError& refusal) {
    return refusal.status();
  }
}

std::string header_of(const AccessOptions& options, const HttpRequest& request,
                      const std::string& name) {
  for (const auto& [key, value] : Access{options}.headers_for(request)) {
    if (key == name) return value;
  }
  return "";
}

TEST(Access, IsFreeByDefaultForProgramsAndForTheServersOwnPage) {
  EXPECT_EQ(status_of({}, {.method = "POST"}), 200);
  EXPECT_EQ(status_of({}, {.method = "POST", .host = "any:1", .origin = "http://any:1"}), 200);
  EXPECT_EQ(status_of({}, {.method = "POST",
                           .host = "inner:8080",
                           .origin = "https://public",
                           .fetch_site = "same-origin"}),
            200);
  EXPECT_TRUE(Access{{}}.headers_for({.origin = "http://any"}).empty());
}

TEST(Access, RefusesPagesOfOtherOriginsThatSend) {
  for (const char* origin : {"http://evil", "null", "http://localhost:81", "localhost:80"}) {
    const HttpRequest post{.method = "POST", .host = "localhost:80", .origin = origin};
    EXPECT_EQ(status_of({}, post), 403) << origin;
    auto get = post;
    get.method = "GET";
    EXPECT_EQ(status_of({}, get), 200) << "the browser shows the page nothing of it";
  }
  EXPECT_EQ(status_of({}, {.method = "PUT", .fetch_site = "cross-site"}), 403);
  EXPECT_EQ(status_of({}, {.method = "POST", .fetch_site = "same-site"}), 403);
}

TEST(Access, LetsPagesOfNamedOriginsReadAnswers) {
  const AccessOptions options{.origins = {"https://a.example", "http://b"}};
  const HttpRequest post{.method = "POST", .host = "h", .origin = "http://b"};
  EXPECT_EQ(status_of(options, post), 200);
  EXPECT_EQ(header_of(options, post, "Access-Control-Allow-Origin"), "http://b");
  EXPECT_EQ(header_of(options, post, "Vary"), "Origin");
  const HttpRequest other{.method = "POST", .host = "h", .origin = "http://b.evil"};
  EXPECT_EQ(status_of(options, other), 403);
  EXPECT_EQ(header_of(options, other, "Access-Control-Allow-Origin"), "");
  const HttpRequest preflight{.method = "OPTIONS", .host = "h", .origin = "https://a.example"};
  EXPECT_EQ(status_of(options, preflight), 200);
  EXPECT_NE(header_of(options, preflight, "Access-Control-Allow-Headers").find("Content-Type"),
            std::string::npos);
  const AccessOptions any{.origins = {"*"}};
  EXPECT_EQ(status_of(any, other), 200);
  EXPECT_EQ(header_of(any, other, "Access-Control-Allow-Origin"), "http://b.evil");
}

TEST(Access, NeedsTheKeyExceptForOpenPaths) {
  const AccessOptions options{.api_key = "secret"};
  for (const char* wrong : {"", "secret", "Bearer ", "Bearer secre", "Bearer secrets",
                            "Bearer secrez", "bearer secret", "Basic secret"}) {
    EXPECT_EQ(status_of(options, {.method = "GET", .authorization = wrong}), 401) << wrong;
    EXPECT_EQ(status_of(options, {.method = "GET", .authorization = wrong}, true), 200);
  }
  EXPECT_EQ(status_of(options, {.method = "POST", .authorization = "Bearer secret"}), 200);
}

TEST(Access, ChecksTheHostIfAsked) {
  const AccessOptions options{.hosts = {"localhost", "[::1]"}};
  for (const char* host : {"localhost", "localhost:8080", "[::1]", "[::1]:80"}) {
    EXPECT_EQ(status_of(options, {.method = "GET", .host = host}), 200) << host;
  }
  for (const char* host : {"", "evil", "localhost.evil", "evil:80", "::1"}) {
    EXPECT_EQ(status_of(options, {.method = "GET", .host = host}, true), 421) << host;
  }
}

}  // namespace
}  // namespace seqtrain::serve
