#include <string>

#include <gtest/gtest.h>

#include <seqtrain/serve/contracts/health.hpp>

#include "support/server_view.hpp"

namespace seqtrain::serve::health {
namespace {

HttpResponse get(const std::string& path, bool ready) {
  return tests::answer_of(contract(), {.method = "GET", .target = path},
                          tests::MadeServer{{.ready = ready}});
}

TEST(Health, TellsWhetherTheServerIsReady) {
  EXPECT_EQ(get("/health", true).status, 200);
  EXPECT_EQ(get("/health", true).body, "");
  EXPECT_EQ(get("/health", false).status, 503);
  EXPECT_EQ(get("/health", false).body, R"({"error":"unhealthy","error_type":"Unhealthy"})");
  EXPECT_EQ(get("/ping", true).body, R"({"status":"Healthy"})");
  EXPECT_EQ(get("/ping", false).status, 503);
  EXPECT_EQ(get("/ping", false).body, R"({"status":"Unhealthy"})");
}

TEST(Health, HasMetricsAndAPageWithoutAModel) {
  EXPECT_EQ(get("/metrics", false).body, "metric 1\n");
  EXPECT_EQ(get("/metrics", false).content_type, "text/plain; version=0.0.4");
  EXPECT_EQ(get("/", false).body, page_html);
  EXPECT_EQ(get("/", false).content_type, "text/html; charset=utf-8");
}

}  // namespace
}  // namespace seqtrain::serve::health
