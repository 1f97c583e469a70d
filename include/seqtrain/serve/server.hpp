#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <seqtrain/log/log.hpp>
#include <seqtrain/serve/contract.hpp>
#include <seqtrain/serve/contracts.hpp>
#include <seqtrain/serve/http_server.hpp>
#include <seqtrain/serve/prometheus.hpp>
#include <seqtrain/serve/service.hpp>

namespace seqtrain::serve {

/// Serves a classifier over HTTP. It listens as soon as it is constructed and answers once the
/// model is loaded. Until then `/health` answers with status 503.
template <Servable P>
class Server {
 public:
  /// Serves by all contracts of seqtrain. `load` returns the model. It is called on another thread,
  /// and again for each `reload`. Throws `InputError` if the server cannot listen on the port.
  Server(const HttpOptions& http, const ServiceOptions& service, typename Models<P>::Load load,
         log::Log log)
      : Server{http, service, std::move(load), std::move(log), all_contracts(service)} {}

  /// Serves by these contracts only.
  Server(const HttpOptions& http, ServiceOptions service, typename Models<P>::Load load,
         log::Log log, std::vector<Contract> contracts)
      : log_{std::move(log)},
        http_{http, metrics_},
        service_{std::move(service), std::move(contracts), std::move(load), metrics_, log_} {
    http_.start([this](HttpRequest&& request, const Responder& responder) {
      service_.handle(std::move(request), responder);
    });
    log_.info("Listening on " + http.host + ":" + std::to_string(port()),
              {{"host", http.host}, {"port", port()}});
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() { http_.stop(); }

  [[nodiscard]] std::uint16_t port() const { return http_.port(); }
  [[nodiscard]] const PrometheusMetrics& metrics() const { return metrics_; }

  /// Loads the model again and then replaces the current one. No request is lost: requests that are
  /// being handled keep their model. If loading fails the current model stays and the error is
  /// logged. Any thread may call this.
  void reload() { service_.models().reload(); }

  /// Tells whether a model is being loaded. The destructor waits until that is done, which may take
  /// for ever if the model's place does not answer.
  [[nodiscard]] bool is_loading() { return service_.models().is_loading(); }

  /// Serves until a stop is requested and all accepted requests are answered. Rethrows the
  /// exception of `load` if the first model cannot be loaded.
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
  PrometheusMetrics metrics_;
  log::Log log_;
  HttpServer http_;
  Service<P> service_;
};

}  // namespace seqtrain::serve
