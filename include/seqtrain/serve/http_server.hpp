#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <sys/resource.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/serve/http_connection.hpp>
#include <seqtrain/serve/prometheus.hpp>
#include <seqtrain/serve/responder.hpp>

namespace seqtrain::serve {

/// Options of `HttpServer`.
struct HttpOptions {
  std::string host = "0.0.0.0";  ///< the IP address to listen on
  std::uint16_t port = 8080;     ///< 0 chooses a free port
  std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 8);
  std::size_t max_connections = 16384;  ///< further clients wait in the system's queue
  HttpReader::Limits limits = {};
  HttpTimeouts timeouts = {};
};

/// Listens on a port and passes each request to a handler. It runs its own threads.
class HttpServer {
 public:
  /// Starts to listen: clients can connect but are not answered before `start`. Throws `InputError`
  /// if the address cannot be used.
  HttpServer(const HttpOptions& options, PrometheusMetrics& metrics)
      : options_{options},
        metrics_{metrics},
        io_{static_cast<int>(options.threads)},
        accepting_{io_.get_executor()},
        acceptor_{accepting_},
        retry_{accepting_},
        sweep_{accepting_} {
    shared_.limits = options.limits;
    shared_.timeouts = options.timeouts;
    shared_.refused = [this](const Refusal& refusal) {
      metrics_.failures.add(metric_of(refusal.type()));
    };
    shared_.closed = [this](HttpConnection& connection) { remove(connection); };
    limit_connections();
    listen();
  }
  /// Closes all connections, whether their requests are answered or not.
  ~HttpServer() {
    stop();
    connections_.clear();  // The sockets must be closed before the objects that they use.
  }

  /// Starts to answer requests with `handler`, which several threads call.
  void start(HttpHandler handler) {
    shared_.handler = std::move(handler);
    set_accepting(true);
    boost::asio::post(accepting_, [this] {
      accept();
      sweep();
    });
    for (std::size_t i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { io_.run(); });
  }

  /// Ends the server's threads. The handler is not called after that.
  void stop() {
    io_.stop();
    threads_.clear();
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }

  /// Accepts no more connections, closes each after its current answer, and returns when all are
  /// closed.
  void drain() {
    shared_.draining = true;
    boost::asio::post(accepting_, [this] {
      boost::system::error_code ignored;
      acceptor_.close(ignored);
      retry_.cancel();
    });
    for (const auto& connection : connections()) {
      boost::asio::post(connection->strand(), [connection] { connection->drain(); });
    }
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return !is_accepting_ && connections_.empty(); });
  }

 private:
  using Tcp = boost::asio::ip::tcp;
  using Timer = boost::asio::basic_waitable_timer<
      std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, Strand>;

  /// Limits the number of connections so that some file descriptors are left for the rest of the
  /// program.
  void limit_connections() {
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return;
    const auto most = std::max<std::size_t>(files.rlim_cur, 128) - 64;
    options_.max_connections = std::min(options_.max_connections, most);
  }

  void listen() {
    const std::string place = options_.host + ":" + std::to_string(options_.port);
    try {
      const Tcp::endpoint endpoint{boost::asio::ip::make_address(options_.host), options_.port};
      acceptor_.open(endpoint.protocol());
      acceptor_.set_option(Tcp::acceptor::reuse_address{true});
      acceptor_.bind(endpoint);
      acceptor_.listen();
      port_ = acceptor_.local_endpoint().port();
    } catch (const boost::system::system_error& error) {
      throw InputError{"cannot listen: " + error.code().message(),
                       {.object = place},
                       "--host takes an IP address, --port a port that is free"};
    }
  }

  void accept() {
    if (shared_.draining) return set_accepting(false);
    if (count() >= options_.max_connections) return accept_later();
    acceptor_.async_accept(boost::asio::make_strand(io_), [this](const auto& error, Socket socket) {
      if (error == boost::asio::error::operation_aborted) return set_accepting(false);
      if (error) return accept_later();  // e.g. no file descriptor is left
      add(std::make_shared<HttpConnection>(std::move(socket), shared_));
      accept();
    });
  }

  void accept_later() {
    retry_.expires_after(std::chrono::milliseconds{20});
    retry_.async_wait([this](const auto&) { accept(); });
  }

  void set_accepting(bool accepting) {
    const std::lock_guard lock{mutex_};
    is_accepting_ = accepting;
    changed_.notify_all();
  }

  void add(const std::shared_ptr<HttpConnection>& connection) {
    {
      const std::lock_guard lock{mutex_};
      connections_.emplace(connection.get(), connection);
    }
    ++metrics_.connections;
    boost::asio::post(connection->strand(), [this, connection] {
      connection->start();
      if (shared_.draining) connection->drain();
    });
  }

  void remove(HttpConnection& connection) {
    --metrics_.connections;
    const std::lock_guard lock{mutex_};
    connections_.erase(&connection);
    changed_.notify_all();
  }

  /// Ends connections that take too long. If there is no room for new ones it closes those that are
  /// between two requests.
  void sweep() {
    const bool full = count() >= options_.max_connections;
    const auto now = std::chrono::steady_clock::now();
    for (const auto& connection : connections()) {
      if (!full && !connection->is_late(now)) continue;
      boost::asio::post(connection->strand(), [connection, full, now] {
        if (full && connection->is_idle()) connection->close();
        connection->on_late(now);
      });
    }
    const auto& times = options_.timeouts;
    const auto shortest =
        std::min({times.header, times.body, times.write, times.idle, times.linger});
    sweep_.expires_after(std::clamp<HttpTimeouts::Time>(shortest / 4, std::chrono::milliseconds{5},
                                                        std::chrono::milliseconds{500}));
    sweep_.async_wait([this](const auto& error) {
      if (!error) sweep();
    });
  }

  [[nodiscard]] std::vector<std::shared_ptr<HttpConnection>> connections() const {
    std::vector<std::shared_ptr<HttpConnection>> all;
    const std::lock_guard lock{mutex_};
    for (const auto& [key, connection] : connections_) all.push_back(connection);
    return all;
  }

  [[nodiscard]] std::size_t count() const {
    const std::lock_guard lock{mutex_};
    return connections_.size();
  }

  HttpOptions options_;
  PrometheusMetrics& metrics_;
  HttpConnection::Shared shared_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_accepting_ = false;  ///< a connection may still be added
  std::unordered_map<HttpConnection*, std::shared_ptr<HttpConnection>> connections_;
  std::uint16_t port_ = 0;
  boost::asio::io_context io_;
  Strand accepting_;
  boost::asio::basic_socket_acceptor<Tcp, Strand> acceptor_;
  Timer retry_;
  Timer sweep_;
  std::vector<std::jthread> threads_;
};

}  // namespace seqtrain::serve
