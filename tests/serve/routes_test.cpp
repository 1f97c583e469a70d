#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/contracts.hpp>
#include <seqtrain/serve/routes.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::serve {
namespace {

/// What a table says about a request: the path of its route, or of none, and the rest of a match.
struct Found {
  std::string route, allow;
  bool open;
  ErrorForm error;
};

Found find(const std::string& method, const std::string& target,
           const ServiceOptions& options = {}) {
  const RouteTable table{all_contracts(options), options.model_name};
  const auto match = table.find({.method = method, .target = target});
  std::string route;
  if (match.route != nullptr) {
    route = match.route->path + (match.route->model_in ? "[" + *match.model + "]" : "");
    EXPECT_TRUE(match.allow.empty());
  }
  return {route, match.allow, match.open, match.error};
}

std::string route_to(const std::string& method, const std::string& target,
                     const ServiceOptions& options = {}) {
  return find(method, target, options).route;
}

std::string allowed(const std::string& method, const std::string& target,
                    const ServiceOptions& options = {}) {
  return find(method, target, options).allow;
}

TEST(RouteTable, KnowsThePathsOfEachContract) {
  for (const char* path :
       {"/", "/health", "/ping", "/info", "/metrics", "/v1/models", "/v2", "/v2/health/live"}) {
    EXPECT_EQ(route_to("GET", path), path);
    EXPECT_EQ(route_to("HEAD", path), path);
  }
  for (const char* path : {"/", "/predict", "/vertex", "/tokenize", "/rerank", "/v1/rerank"}) {
    EXPECT_EQ(route_to("POST", path), path);
  }
  EXPECT_EQ(route_to("GET", "/metrics?x=y"), "/metrics");
  EXPECT_EQ(route_to("POST", "/predictions/fastai_model"), "/predictions/[fastai_model]");
  EXPECT_EQ(route_to("POST", "/predictions/bert/"), "/predictions/[bert]");
  EXPECT_EQ(route_to("PUT", "/predictions/bert"), "/predictions/[bert]");
  EXPECT_EQ(route_to("GET", "/v2/models/m/ready?x=y"), "/v2/models/[m]");
  EXPECT_EQ(route_to("POST", "/v2/models/m/infer"), "/v2/models/[m]");
  EXPECT_EQ(route_to("GET", "/v1/models/m"), "/v1/models/[m]");
  EXPECT_EQ(route_to("POST", "/v1/models/m:predict"), "/v1/models/[m]");
  for (const char* path : {"/predictions/", "/v2/models/m/versions/1/infer", "/x", "/health/",
                           "/v1/models/m:explain", "/v1/models/"}) {
    for (const char* method : {"GET", "POST", "OPTIONS"}) {
      const Found found = find(method, path);
      EXPECT_EQ(found.route + found.allow, "") << path;
      EXPECT_FALSE(found.open);
    }
  }
}

TEST(RouteTable, ListsTheMethodsOfAPath) {
  EXPECT_EQ(allowed("PUT", "/"), "GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(allowed("OPTIONS", "/predictions/m"), "POST, PUT, OPTIONS");
  for (const char* path : {"/predict", "/tokenize", "/rerank", "/v2/models/m/infer"}) {
    EXPECT_EQ(allowed("GET", path), "POST, OPTIONS");
    EXPECT_EQ(allowed("OPTIONS", path), "POST, OPTIONS");
  }
  for (const char* path : {"/health", "/ping", "/info", "/metrics", "/v2", "/v1/models"}) {
    EXPECT_EQ(allowed("POST", path), "GET, HEAD, OPTIONS");
  }
}

TEST(RouteTable, VertexNamesItsRoutes) {
  const ServiceOptions vertex{.health_route = "/v1/endpoints/1/deployedModels/2",
                              .predict_route = "/v1/endpoints/1/deployedModels/2:predict"};
  EXPECT_EQ(route_to("GET", vertex.health_route, vertex), vertex.health_route);
  EXPECT_EQ(route_to("POST", vertex.predict_route, vertex), vertex.predict_route);
  EXPECT_EQ(route_to("POST", "/predict", vertex), "/predict");
  EXPECT_EQ(allowed("GET", vertex.predict_route, vertex), "POST, OPTIONS");
  EXPECT_EQ(allowed("OPTIONS", vertex.predict_route, vertex), "POST, OPTIONS");
  EXPECT_EQ(allowed("POST", vertex.health_route, vertex), "GET, HEAD, OPTIONS");
  const ServiceOptions other{.health_route = "/v2/models/x", .predict_route = "/v2/models/x/infer"};
  EXPECT_EQ(route_to("GET", "/v2/models/x", other), "/v2/models/x");
  EXPECT_EQ(route_to("POST", "/v2/models/x/infer", other), "/v2/models/x/infer");
  EXPECT_EQ(route_to("POST", "/v2/models/y/infer", other), "/v2/models/[y]");
  const ServiceOptions same{.health_route = "/x", .predict_route = "/x"};
  EXPECT_EQ(route_to("GET", "/x", same), "/x");
  EXPECT_EQ(route_to("POST", "/x", same), "/x");
  EXPECT_TRUE(find("GET", "/x", same).open);
  EXPECT_FALSE(find("POST", "/x", same).open);
  EXPECT_EQ(allowed("OPTIONS", "/x", same), "GET, HEAD, POST, OPTIONS");
}

TEST(RouteTable, ProtocolsKeepThePathsThatVertexChooses) {
  const ServiceOptions torch{.health_route = "/ping", .predict_route = "/predictions/bert"};
  EXPECT_EQ(route_to("GET", "/ping", torch), "/ping");
  EXPECT_EQ(route_to("POST", "/predictions/bert", torch), "/predictions/bert");
  EXPECT_EQ(find("POST", "/predictions/bert", torch).error, torch_serve::error);
  const ServiceOptions triton{
      .model_name = "m", .health_route = "/v2/health/ready", .predict_route = "/v2/models/m/infer"};
  EXPECT_EQ(route_to("GET", "/v2/health/ready", triton), "/v2/health/ready");
  EXPECT_EQ(route_to("POST", "/v2/models/m/infer", triton), "/v2/models/[m]");
}

TEST(RouteTable, ErrorsHaveTheFormOfTheContract) {
  EXPECT_EQ(find("GET", "/nothing").error, tei_error);
  EXPECT_EQ(find("POST", "/predict").error, tei_error);
  EXPECT_EQ(find("POST", "/predictions/m").error, torch_serve::error);
  EXPECT_EQ(find("GET", "/predictions/m").error, torch_serve::error);
  EXPECT_EQ(find("POST", "/v2/models/m/infer").error, open_inference::error);
  EXPECT_EQ(find("GET", "/v2/nothing").error, open_inference::error);
}

TEST(RouteTable, PathsAboutTheServerNeedNoKey) {
  for (const char* path :
       {"/", "/health", "/ping", "/metrics", "/v2/health/live", "/v2/health/ready"}) {
    EXPECT_TRUE(find("GET", path).open) << path;
    EXPECT_TRUE(find("PUT", path).open) << path;
  }
  for (const char* path : {"/info", "/v2", "/v2/models/m", "/v2/models/m/ready", "/v1/models"}) {
    EXPECT_FALSE(find("GET", path).open) << path;
  }
  EXPECT_FALSE(find("POST", "/").open);
  EXPECT_FALSE(find("POST", "/predict").open);
}

TEST(RouteTable, TheEarlierContractAnswers) {
  const auto with = [](int status) {
    return Contract{.routes = {{.path = "/a", .answer = [status](const Call&) {
                                  return HttpResponse{.status = status};
                                }}}};
  };
  const RouteTable table{{with(201), with(202)}, "model"};
  const HttpRequest http{.method = "GET", .target = "/a"};
  const auto* const route = table.find(http).route;
  ASSERT_NE(route, nullptr);
  EXPECT_EQ(route, table.find({.method = "HEAD", .target = "/a"}).route);
  const RouteTable turned{{with(202), with(201)}, "model"};
  EXPECT_NE(route, turned.find(http).route);
}

TEST(RouteTable, RefusesARouteThatIsNotWhole) {
  const auto answer = [](const Call&) { return HttpResponse{}; };
  const auto problem = [](Route route) {
    return tests::problem_of([&] { RouteTable{{{.routes = {std::move(route)}}}, "model"}; });
  };
  EXPECT_EQ(problem({.path = "a", .answer = answer}),
            "route GET a: its path does not begin with /");
  EXPECT_EQ(problem({.method = "DELETE", .path = "/a", .answer = answer}),
            "route DELETE /a: its method is none of GET, POST and PUT");
  EXPECT_EQ(problem({.path = "/a"}), "route GET /a: has not exactly one of answer, work and read");
  EXPECT_EQ(problem({.path = "/a", .answer = answer, .work = answer}),
            "route GET /a: has not exactly one of answer, work and read");
}

}  // namespace
}  // namespace seqtrain::serve
