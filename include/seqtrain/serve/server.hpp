#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <seqtrain/report/log.hpp>
#include <seqtrain/serve/http_server.hpp>
#include <seqtrain/serve/metrics.hpp>
#include <seqtrain/serve/service.hpp>

namespace seqtrain::serve {

/// Serves a classifier over HTTP. It listens from its construction on, and answers once the model
/// is loaded; until then `/health` says 503.
template <Predictor P>
class Server {
 public:
  /// `load` returns the model. Another thread calls it, and again for each `reload`. Throws
  /// `InputError` if the port cannot be had.
  Server(const HttpOptions& http, ServiceOptions service, typename Models<P>::Load load,
         report::Log log)
      : log_{std::move(log)},
        http_{http, metrics_},
        service_{std::move(service), std::move(load), metrics_, log_} {
    http_.start([this](const HttpRequest& request, const Responder& responder) {
      service_.handle(request, responder);
    });
    log_.info("Listening on " + http.host + ":" + std::to_string(port()),
              {{"host", http.host}, {"port", port()}});
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() { http_.stop(); }

  [[nodiscard]] std::uint16_t port() const { return http_.port(); }
  [[nodiscard]] const Metrics& metrics() const { return metrics_; }

  /// Puts a model that is loaded anew in the present one's place. No request is lost: those that
  /// are worked on keep the model that they began with. If it cannot be loaded, the present one
  /// stays and the log says why. Any thread may call it.
  void reload() { service_.models().reload(); }

  /// Serves until a stop is requested and each request that was accepted has its answer. Throws
  /// what `load` threw if there is no model.
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (const auto failure = service_.models().failure()) std::rethrow_exception(failure);
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    service_.drain();
    http_.drain();
    log_.info("All requests are answered.");
  }

 private:
  Metrics metrics_;
  report::Log log_;
  HttpServer http_;
  Service<P> service_;
};

}  // namespace seqtrain::serve
