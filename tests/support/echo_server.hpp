#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include <seqtrain/serve/http_server.hpp>

namespace seqtrain::tests {

/// A server that answers each request with its body. It keeps requests to /later unanswered.
struct EchoServer {
  explicit EchoServer(serve::HttpOptions options = {}) : server{on_free_port(options), metrics} {
    server.start([this](const serve::HttpRequest& request, const serve::Responder& responder) {
      if (request.path() == "/forget") return;  // The responder is destroyed without an answer.
      if (request.path() == "/no-memory") throw std::bad_alloc{};
      if (request.path() == "/no-memory-later") {
        return responder.post([]() -> serve::HttpResponse { throw std::bad_alloc{}; });
      }
      if (request.path() == "/throw") throw std::runtime_error{"no answer to this"};
      if (request.path() != "/later") {
        return responder.send({.body = request.method + ":" + request.body});
      }
      responder.on_hang_up([this] { ++hung_up; });
      const std::lock_guard lock{mutex};
      kept.push_back(responder);
    });
  }
  ~EchoServer() { server.stop(); }

  static serve::HttpOptions on_free_port(serve::HttpOptions options) {
    options.host = "127.0.0.1";
    options.port = 0;
    return options;
  }

  void await_kept(std::size_t count) {
    for (;; std::this_thread::yield()) {
      const std::lock_guard lock{mutex};
      if (kept.size() >= count) return;
    }
  }
  void answer_kept() {
    const std::lock_guard lock{mutex};
    for (const serve::Responder& responder : kept) responder.send({.body = "late"});
    kept.clear();
  }

  std::uint16_t port() const { return server.port(); }

  serve::PrometheusMetrics metrics;
  std::atomic<int> hung_up = 0;
  std::mutex mutex;
  serve::HttpServer server;
  std::vector<serve::Responder> kept;  // destroyed before the server
};

}  // namespace seqtrain::tests
