#pragma once

#include <algorithm>
#include <string_view>

#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/options.hpp>

namespace seqtrain::serve {

/// The purposes of the server's paths.
enum class Route {
  page,
  health,
  ping,
  info,
  metrics,
  tokenize,
  predict,
  rerank,
  torch_serve,
  none
};

/// Returns the route of a request's path.
[[nodiscard]] inline Route route_of(const HttpRequest& request, const ServiceOptions& options) {
  const auto path = request.path();
  const bool asks = request.method == "POST";
  // Vertex AI may choose any two paths, even equal ones.
  if (asks && path == options.predict_route) {
    return path.starts_with("/predictions/") ? Route::torch_serve : Route::predict;
  }
  if (!asks && path == options.health_route && path != "/ping") return Route::health;
  if (path == "/") return asks ? Route::predict : Route::page;
  if (path == "/predict" || path == "/vertex") return Route::predict;
  if (path.starts_with("/predictions/") && path.size() > 13) return Route::torch_serve;
  if (path == "/health") return Route::health;
  if (path == "/ping") return Route::ping;
  if (path == "/info") return Route::info;
  if (path == "/metrics") return Route::metrics;
  if (path == "/tokenize") return Route::tokenize;
  if (path == "/rerank") return Route::rerank;
  return Route::none;
}

/// Returns the methods that a route takes, in the form of the header `Allow`.
[[nodiscard]] constexpr std::string_view methods(Route route) {
  switch (route) {
    case Route::page:
      return "GET, HEAD, POST, OPTIONS";
    case Route::tokenize:
    case Route::predict:
    case Route::rerank:
      return "POST, OPTIONS";
    case Route::torch_serve:
      return "POST, PUT, OPTIONS";
    default:
      return "GET, HEAD, OPTIONS";
  }
}

/// Returns whether a route takes a method.
[[nodiscard]] constexpr bool takes(Route route, std::string_view method) {
  for (std::string_view rest = methods(route); !rest.empty();) {
    const auto end = std::min(rest.find(", "), rest.size());
    if (rest.substr(0, end) == method) return true;
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  return false;
}

}  // namespace seqtrain::serve
