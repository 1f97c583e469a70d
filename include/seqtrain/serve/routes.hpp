#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <seqtrain/serve/contracts/kserve.hpp>
#include <seqtrain/serve/contracts/open_inference.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/options.hpp>

namespace seqtrain::serve {

/// The purposes of the server's paths.
enum class Route {
  none,
  page,
  health,
  ping,
  info,
  metrics,
  open_inference,  ///< the health and the metadata of this protocol
  kserve,          ///< the list and the readiness of models in version 1 of KServe's protocol
  tokenize,        ///< this and the following ones have a body
  predict,
  rerank,
  torch_serve,
  kserve_predict,
  infer
};

/// Returns the route of a request's path. `open` is the path's parts if it is one of the Open
/// Inference Protocol's.
[[nodiscard]] inline Route route_of(const HttpRequest& request, const ServiceOptions& options,
                                    const std::optional<open_inference::Path>& open) {
  const auto path = request.path();
  const bool asks = request.method == "POST";
  const auto route = open && open->purpose == "infer" ? Route::infer : Route::open_inference;
  if (open && open->model.value_or(options.model_name) == options.model_name) return route;
  // Vertex AI may choose any two paths, even equal ones.
  if (asks && path == options.predict_route) {
    return path.starts_with("/predictions/") ? Route::torch_serve : Route::predict;
  }
  if (!asks && path == options.health_route && path != "/ping") return Route::health;
  if (open) return route;  // of another model
  if (path == "/") return asks ? Route::predict : Route::page;
  if (path == "/predict" || path == "/vertex") return Route::predict;
  if (path.starts_with("/predictions/") && path.size() > 13) return Route::torch_serve;
  if (path == "/health") return Route::health;
  if (path == "/ping") return Route::ping;
  if (path == "/info") return Route::info;
  if (path == "/metrics") return Route::metrics;
  if (path == "/tokenize") return Route::tokenize;
  if (path == "/rerank" || path == "/v1/rerank") return Route::rerank;
  if (const auto of = kserve::path_of(path)) {
    return of->predicts ? Route::kserve_predict : Route::kserve;
  }
  return Route::none;
}

/// Tells whether a route answers without the server's key: whether it is alive, and its metrics.
[[nodiscard]] inline bool is_open(Route route, const std::optional<open_inference::Path>& open) {
  return route == Route::health || route == Route::ping || route == Route::metrics ||
         route == Route::page ||
         (route == Route::open_inference && !open->model && !open->purpose.empty());
}

/// Returns the methods that a route takes.
[[nodiscard]] inline std::vector<std::string_view> methods(Route route) {
  if (route == Route::page) return {"GET", "HEAD", "POST", "OPTIONS"};
  if (route == Route::torch_serve) return {"POST", "PUT", "OPTIONS"};
  if (route >= Route::tokenize) return {"POST", "OPTIONS"};
  return {"GET", "HEAD", "OPTIONS"};
}

}  // namespace seqtrain::serve
