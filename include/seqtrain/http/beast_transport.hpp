#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/http/connection.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/http/timed_socket.hpp>
#include <seqtrain/http/transport_options.hpp>

namespace seqtrain::http {

/// Sends requests by HTTP/1.1 over TCP and TLS with Boost.Beast. Connections are reused. It trusts
/// the system's certificate authorities, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR` if these
/// are set.
class BeastTransport final : public Transport {
 public:
  /// Throws `InputError` if `ca_file` cannot be read.
  explicit BeastTransport(TransportOptions options = {}, Resolve resolve = &resolve_by_system)
      : options_{std::move(options)}, resolve_{std::move(resolve)} {
    tls_.set_options(detail::asio::ssl::context::default_workarounds |
                     detail::asio::ssl::context::no_tlsv1 | detail::asio::ssl::context::no_tlsv1_1);
    tls_.set_default_verify_paths();
    tls_.set_verify_mode(detail::asio::ssl::verify_peer);
    if (options_.ca_file.empty()) return;
    boost::system::error_code error;
    tls_.load_verify_file(options_.ca_file.string(), error);
    if (!error) return;
    throw InputError{"no certificates in PEM can be read", {.object = options_.ca_file.string()}};
  }

  Response send(const Request& request) override {
    const auto key = request.url.origin();
    auto connection = take(key);
    if (!connection) {
      connection =
          std::make_unique<Connection>(tls_, request.url, options_.proxies.proxy_for(request.url),
                                       options_.deadlines, resolve_, stop_);
    }
    auto response = connection->exchange(request);
    if (connection->reusable()) keep(key, std::move(connection));
    return response;
  }

  void stop_at(std::stop_token stop) override { stop_ = std::move(stop); }

 private:
  struct Idle {
    std::unique_ptr<Connection> connection;
    Clock::time_point since;
  };

  std::unique_ptr<Connection> take(const std::string& key) {
    const std::lock_guard lock{mutex_};
    auto& idle = idle_[key];
    while (!idle.empty()) {
      auto last = std::move(idle.back());
      idle.pop_back();
      const bool fresh = Clock::now() - last.since < options_.longest_idle;
      if (fresh && last.connection->reusable()) return std::move(last.connection);
    }
    return {};
  }

  void keep(const std::string& key, std::unique_ptr<Connection> connection) {
    const std::lock_guard lock{mutex_};
    idle_[key].push_back({std::move(connection), Clock::now()});
  }

  TransportOptions options_;
  Resolve resolve_;
  std::stop_token stop_;
  detail::asio::ssl::context tls_{detail::asio::ssl::context::tls_client};
  std::mutex mutex_;
  std::map<std::string, std::vector<Idle>> idle_;
};

}  // namespace seqtrain::http
