#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
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
#include <seqtrain/core/memory.hpp>
#include <seqtrain/serve/http_connection.hpp>
#include <seqtrain/serve/prometheus.hpp>
#include <seqtrain/serve/responder.hpp>

namespace seqtrain::serve {

/// Options of `HttpServer`.
struct HttpOptions {
  std::string host = "0.0.0.0";  ///< the IP address to listen on
  std::uint16_t port = 8080;     ///< 0 chooses a free port
  std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 8);
  std::size_t max_connections = 16384;  ///< for further clients, connections without a request end
  HttpReader::Limits limits = {};
  /// Most bytes of all bodies that arrive or are handled and of all answers that clients have not
  /// read. Further bodies are refused with status 503.
  std::size_t max_buffered_bytes = 268435456;
  HttpTimeouts timeouts = {};
};

/// Listens on a port and passes each request to a handler. It runs its own threads. It raises the
/// process's limit of open files as far as the system allows.
class HttpServer {
 public:
  /// Starts to listen: clients can connect but are not answered before `start`. Throws `InputError`
  /// if the address cannot be used.
  HttpServer(const HttpOptions& options, PrometheusMetrics& metrics)
      : options_{options},
        metrics_{metrics},
        shared_{.limits = options.limits,
                .timeouts = options.timeouts,
                .budget = ByteBudget{options.max_buffered_bytes}},
        io_{static_cast<int>(options.threads)},
        accepting_{io_.get_executor()},
        acceptor_{accepting_},
        sweep_{accepting_} {
    shared_.refused = [this](const HttpError& error) {
      metrics_.failures.add(metric_of(error.type()));
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
      accept_all();
      sweep();
    });
    for (std::size_t i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { work(); });
  }

  /// Ends the server's threads. The handler is not called after that.
  void stop() {
    io_.stop();
    threads_.clear();
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Returns the number of bytes that count against `HttpOptions::max_buffered_bytes`.
  [[nodiscard]] std::size_t buffered_bytes() const { return shared_.budget.held(); }

  /// Answers all requests that the system has received and closes each connection after its last
  /// answer. Accepts no more connections. Returns when all are closed.
  void drain() {
    shared_.draining = true;
    boost::asio::post(accepting_, [this] {
      accept_all();
      boost::system::error_code ignored;
      acceptor_.close(ignored);
      set_accepting(false);
    });
    for (const auto& connection : connections()) {
      boost::asio::post(connection->strand(), [connection] { connection->drain(); });
    }
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return !is_accepting_ && connections_.empty(); });
  }

 private:
  using Tcp = boost::asio::ip::tcp;
  using Acceptor = boost::asio::basic_socket_acceptor<Tcp, Strand>;
  using Timer = boost::asio::basic_waitable_timer<
      std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, Strand>;

  /// Raises the limit of open files, and limits the number of connections so that some files are
  /// left for the rest of the program.
  void limit_connections() {
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    const rlimit most{.rlim_cur = files.rlim_max, .rlim_max = files.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &most) == 0) files = most;
    if (files.rlim_cur == RLIM_INFINITY) return;
    const std::size_t own = files.rlim_cur - std::min<rlim_t>(files.rlim_cur / 2, 64);
    options_.max_connections = std::min(options_.max_connections, std::max<std::size_t>(own, 1));
  }

  /// Works until the server stops. The connections catch the exceptions of their requests; what
  /// remains is a lack of memory, which ends a step but not the thread.
  void work() {
    while (!io_.stopped()) {
      try {
        io_.run();
      } catch (const std::exception&) {
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
      }
    }
  }

  /// Runs a step that must not be left out, again and again until there is memory for it.
  template <class Step>
  void insist(const Step& step) {
    while (!io_.stopped()) {
      try {
        return step();
      } catch (const std::bad_alloc&) {
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
      }
    }
  }

  void listen() {
    const std::string place = options_.host + ":" + std::to_string(options_.port);
    try {
      const Tcp::endpoint endpoint{boost::asio::ip::make_address(options_.host), options_.port};
      acceptor_.open(endpoint.protocol());
      acceptor_.set_option(Tcp::acceptor::reuse_address{true});
      acceptor_.bind(endpoint);
      acceptor_.listen();
      acceptor_.non_blocking(true);
      port_ = acceptor_.local_endpoint().port();
    } catch (const boost::system::system_error& error) {
      throw InputError{"cannot listen: " + error.code().message(),
                       {.object = place},
                       "--host takes an IP address, --port a port that is free"};
    }
  }

  void wait_for_clients() {
    insist([this] {
      acceptor_.async_wait(Acceptor::wait_read, [this](const auto& error) {
        if (!error) accept_all();
      });
    });
  }

  /// Accepts the clients that wait. If there is no room for them, it goes on when a connection has
  /// closed, at the latest with the next sweep.
  void accept_all() {
    try {
      while (acceptor_.is_open()) {
        if (count() >= options_.max_connections) return make_room();
        boost::system::error_code error;
        Socket socket = acceptor_.accept(boost::asio::make_strand(io_), error);
        if (error == boost::asio::error::would_block) return wait_for_clients();
        if (error == boost::asio::error::connection_aborted) continue;
        if (error) return make_room();  // e.g. no file descriptor is left
        add(std::make_shared<HttpConnection>(std::move(socket), shared_));
      }
    } catch (const std::bad_alloc&) {
      full_ = true;
    }
  }

  /// Ends some of the connections that have waited longest for a request.
  void make_room() {
    full_ = true;
    std::vector<std::pair<std::int64_t, std::shared_ptr<HttpConnection>>> idle;
    for (auto& connection : connections()) {
      const auto since = connection->idle_since();
      if (since != HttpConnection::busy) idle.emplace_back(since, std::move(connection));
    }
    const auto some = std::min(idle.size(), 1 + options_.max_connections / 16);
    const auto end = idle.begin() + static_cast<std::ptrdiff_t>(some);
    std::partial_sort(idle.begin(), end, idle.end());
    for (auto each = idle.begin(); each != end; ++each) {
      const auto& connection = each->second;
      boost::asio::post(connection->strand(), [connection] { connection->yield(); });
    }
  }

  /// Accepts further clients if some wait for room. Any thread may call it.
  void use_room() {
    if (!full_.exchange(false)) return;
    try {
      boost::asio::post(accepting_, [this] { accept_all(); });
    } catch (const std::bad_alloc&) {
      full_ = true;  // The next sweep tries it again.
    }
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
    insist([&] {
      boost::asio::post(connection->strand(), [this, connection] {
        connection->start();
        if (shared_.draining) connection->drain();
      });
    });
  }

  void remove(HttpConnection& connection) {
    --metrics_.connections;
    {
      const std::lock_guard lock{mutex_};
      connections_.erase(&connection);
      changed_.notify_all();
    }
    use_room();
  }

  /// Ends connections that take too long, and does so again after a while.
  void sweep() {
    try {
      const auto now = std::chrono::steady_clock::now();
      for (const auto& connection : connections()) {
        if (!connection->is_late(now)) continue;
        boost::asio::post(connection->strand(), [connection, now] { connection->on_late(now); });
      }
    } catch (const std::bad_alloc&) {  // The next sweep does it.
    }
    use_room();
    return_memory();
    const auto& times = options_.timeouts;
    const auto shortest =
        std::min({times.header, times.body, times.write, times.idle, times.linger});
    insist([&] {
      sweep_.expires_after(std::clamp<HttpTimeouts::Time>(
          shortest / 4, std::chrono::milliseconds{5}, std::chrono::milliseconds{500}));
      sweep_.async_wait([this](const auto& error) {
        if (!error) sweep();
      });
    });
  }

  /// Gives freed memory back to the system when much less of it is in use than at the last peak.
  void return_memory() {
    constexpr std::size_t much = 32 << 20;
    const std::size_t now = shared_.budget.take_peak();
    peak_ = std::max(peak_, now);
    if (peak_ - now < std::max(much, peak_ / 2)) return;
    peak_ = now;
    return_freed_memory();
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
  Acceptor acceptor_;
  Timer sweep_;
  std::atomic<bool> full_ = false;  ///< clients wait for room
  std::size_t peak_ = 0;            ///< most bytes that connections have held since the last trim
  std::vector<std::jthread> threads_;
};

}  // namespace seqtrain::serve
