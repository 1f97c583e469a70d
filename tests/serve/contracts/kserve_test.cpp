#include <string>

#include <gtest/gtest.h>

#include <seqtrain/serve/contracts/kserve.hpp>

#include "support/problem_of.hpp"
#include "support/server_view.hpp"

namespace seqtrain::serve::kserve {
namespace {

using tests::MadeServer;

HttpResponse get(const std::string& path, const MadeServer& server = {}) {
  return tests::answer_of(contract(), {.method = "GET", .target = path}, server);
}

TEST(KServePath, EndsWithANameAndMayBeAskedToPredict) {
  EXPECT_EQ(name_in("m"), "m");
  EXPECT_EQ(name_before_predict("m:predict"), "m");
  for (const char* other : {"", "m:predict", "m:explain", "m/predict", "m/"}) {
    EXPECT_FALSE(name_in(other)) << other;
  }
  for (const char* other : {"", "m", ":predict", "m:explain", "m/predict", "a/b:predict"}) {
    EXPECT_FALSE(name_before_predict(other)) << other;
  }
}

TEST(KServeAnswer, ListsModels) {
  EXPECT_EQ(get("/v1/models").body, R"({"models":["model"]})");
  MadeServer server{{.adapters = {"a", "b"}}};
  EXPECT_EQ(get("/v1/models", server).body, R"({"models":["model","a","b"]})");
  server.state.ready = false;
  EXPECT_EQ(get("/v1/models", server).body, R"({"models":["model"]})");
}

TEST(KServeAnswer, TellsWhetherAModelIsReady) {
  EXPECT_EQ(get("/v1/models/a").body, R"({"name":"a","ready":true})");
  const MadeServer server{{.adapters = {"b"}}};
  EXPECT_EQ(get("/v1/models/b", server).status, 200);
  EXPECT_EQ(tests::problem_of([&] { (void)get("/v1/models/a", server); }), "unknown model");
  const auto loading = get("/v1/models/a", MadeServer{{.ready = false}});
  EXPECT_EQ(loading.status, 503);
  EXPECT_EQ(loading.body, R"({"name":"a","ready":false})");
}

TEST(KServeRequest, TakesTheModelFromThePath) {
  const auto request =
      tests::request_of({.method = "POST",
                         .target = "/v1/models/a:predict",
                         .body = R"({"instances": ["x"], "parameters": {"model": "b"}})"});
  EXPECT_EQ(request.model, "a");
  EXPECT_EQ(request.texts.at(0).text, "x");
}

}  // namespace
}  // namespace seqtrain::serve::kserve
