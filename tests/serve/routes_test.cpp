#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/routes.hpp>

namespace seqtrain::serve {
namespace {

Route route_to(const std::string& method, const std::string& target,
               const ServiceOptions& options = {}) {
  const HttpRequest request{.method = method, .target = target};
  return route_of(request, options, open_inference::path_of(request.path()));
}

TEST(RouteOf, KnowsThePathsOfEachContract) {
  EXPECT_EQ(route_to("GET", "/"), Route::page);
  EXPECT_EQ(route_to("POST", "/"), Route::predict);
  EXPECT_EQ(route_to("GET", "/health"), Route::health);
  EXPECT_EQ(route_to("GET", "/ping"), Route::ping);
  EXPECT_EQ(route_to("GET", "/info"), Route::info);
  EXPECT_EQ(route_to("GET", "/metrics?x=y"), Route::metrics);
  EXPECT_EQ(route_to("POST", "/tokenize"), Route::tokenize);
  EXPECT_EQ(route_to("POST", "/rerank"), Route::rerank);
  EXPECT_EQ(route_to("POST", "/predict"), Route::predict);
  EXPECT_EQ(route_to("POST", "/vertex"), Route::predict);
  EXPECT_EQ(route_to("POST", "/predictions/fastai_model"), Route::torch_serve);
  EXPECT_EQ(route_to("POST", "/predictions/bert/"), Route::torch_serve);
  EXPECT_EQ(route_to("PUT", "/predictions/bert"), Route::torch_serve);
  EXPECT_EQ(route_to("POST", "/predictions/"), Route::none);
  EXPECT_EQ(route_to("GET", "/v2"), Route::open_inference);
  EXPECT_EQ(route_to("GET", "/v2/models/m/ready?x=y"), Route::open_inference);
  EXPECT_EQ(route_to("POST", "/v2/models/m/infer"), Route::infer);
  EXPECT_EQ(route_to("GET", "/v1/models"), Route::kserve);
  EXPECT_EQ(route_to("GET", "/v1/models/m"), Route::kserve);
  EXPECT_EQ(route_to("POST", "/v1/models/m:predict"), Route::kserve_predict);
  EXPECT_EQ(route_to("POST", "/v1/rerank"), Route::rerank);
  EXPECT_EQ(route_to("POST", "/v2/models/m/versions/1/infer"), Route::none);
}

TEST(RouteOf, VertexNamesItsRoutes) {
  const ServiceOptions vertex{.health_route = "/v1/endpoints/1/deployedModels/2",
                              .predict_route = "/v1/endpoints/1/deployedModels/2:predict"};
  EXPECT_EQ(route_to("GET", vertex.health_route, vertex), Route::health);
  EXPECT_EQ(route_to("POST", vertex.predict_route, vertex), Route::predict);
  EXPECT_EQ(route_to("POST", "/predict", vertex), Route::predict);
  const ServiceOptions torch{.health_route = "/ping", .predict_route = "/predictions/bert"};
  EXPECT_EQ(route_to("GET", "/ping", torch), Route::ping);
  EXPECT_EQ(route_to("POST", "/predictions/bert", torch), Route::torch_serve);
  const ServiceOptions triton{
      .model_name = "m", .health_route = "/v2/health/ready", .predict_route = "/v2/models/m/infer"};
  EXPECT_EQ(route_to("GET", "/v2/health/ready", triton), Route::open_inference);
  EXPECT_EQ(route_to("POST", "/v2/models/m/infer", triton), Route::infer);
  const ServiceOptions other{.health_route = "/v2/models/x", .predict_route = "/v2/models/x/infer"};
  EXPECT_EQ(route_to("GET", "/v2/models/x", other), Route::health);
  EXPECT_EQ(route_to("POST", "/v2/models/x/infer", other), Route::predict);
  EXPECT_EQ(route_to("POST", "/v2/models/y/infer", other), Route::infer);
  const ServiceOptions same{.health_route = "/x", .predict_route = "/x"};
  EXPECT_EQ(route_to("GET", "/x", same), Route::health);
  EXPECT_EQ(route_to("POST", "/x", same), Route::predict);
}

TEST(Methods, AreThoseOfTheRoute) {
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(methods(Route::page), Names({"GET", "HEAD", "POST", "OPTIONS"}));
  EXPECT_EQ(methods(Route::torch_serve), Names({"POST", "PUT", "OPTIONS"}));
  for (const Route route : {Route::predict, Route::tokenize, Route::rerank, Route::infer}) {
    EXPECT_EQ(methods(route), Names({"POST", "OPTIONS"}));
  }
  for (const Route route :
       {Route::health, Route::ping, Route::info, Route::metrics, Route::open_inference}) {
    EXPECT_EQ(methods(route), Names({"GET", "HEAD", "OPTIONS"}));
  }
}

}  // namespace
}  // namespace seqtrain::serve
