#pragma once

#include <string>

#include <seqtrain/serve/contract.hpp>
#include <seqtrain/serve/http_error.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/page.hpp>

/// The paths for those who run a server: whether it is well, its metrics, and a page to try a text.
namespace seqtrain::serve::health {

/// Answers a health check by the status alone.
[[nodiscard]] inline HttpResponse check(const Call& call) {
  return call.server.is_ready() ? HttpResponse{} : tei_error(unhealthy("unhealthy"));
}

/// Answers a health check as TorchServe does.
[[nodiscard]] inline HttpResponse ping(const Call& call) {
  const bool well = call.server.is_ready();
  return {.status = well ? 200 : 503,
          .body = well ? R"({"status":"Healthy"})" : R"({"status":"Unhealthy"})"};
}

/// Returns the metrics in Prometheus' text format.
[[nodiscard]] inline HttpResponse metrics(const Call& call) {
  return {.body = call.server.metrics(), .content_type = "text/plain; version=0.0.4"};
}

/// Returns the page on which users try a text.
[[nodiscard]] inline HttpResponse page(const Call&) {
  return {.body = std::string{page_html}, .content_type = "text/html; charset=utf-8"};
}

/// Returns the contract.
[[nodiscard]] inline Contract contract() {
  return {.routes = {{.path = "/health", .open = true, .answer = check},
                     {.path = "/ping", .open = true, .answer = ping},
                     {.path = "/metrics", .open = true, .answer = metrics},
                     {.path = "/", .open = true, .answer = page}}};
}

}  // namespace seqtrain::serve::health
