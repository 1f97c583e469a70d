#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/system/error_code.hpp>
#include <poll.h>
#include <sys/socket.h>

#include <seqtrain/http/timing.hpp>

namespace seqtrain::http {

/// The addresses of a host's port.
using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;

/// Finds the addresses of a host's port. The call may block without limit.
using Resolve = std::function<Endpoints(const std::string& host, const std::string& port,
                                        boost::system::error_code& error)>;

/// Finds the addresses by the system's resolver. Sets `error` if there are none.
inline Endpoints resolve_by_system(const std::string& host, const std::string& port,
                                   boost::system::error_code& error) {
  boost::asio::io_context io;
  boost::asio::ip::tcp::resolver resolver{io};
  Endpoints endpoints;
  for (const auto& found : resolver.resolve(host, port, error)) {
    endpoints.push_back(found.endpoint());
  }
  return endpoints;
}

/// Calls `resolve` on a separate thread, because nothing can interrupt the system's resolver.
/// Returns without a result at `end` or after `stop`; `error` is then `timed_out` or
/// `operation_aborted`.
inline Endpoints look_up(const Resolve& resolve, const std::string& host, const std::string& port,
                         Clock::time_point end, const std::stop_token& stop,
                         boost::system::error_code& error) {
  struct Shared {
    std::mutex mutex;
    std::condition_variable_any done;
    bool is_done = false;
    Endpoints endpoints;
    boost::system::error_code error;
  };
  const auto shared = std::make_shared<Shared>();
  std::thread{[shared, resolve, host, port] {
    boost::system::error_code problem;
    Endpoints endpoints;
    try {
      endpoints = resolve(host, port, problem);
    } catch (...) {
      problem = boost::asio::error::no_recovery;
    }
    const std::lock_guard lock{shared->mutex};
    shared->endpoints = std::move(endpoints);
    shared->error = problem;
    shared->is_done = true;
    shared->done.notify_all();
  }}.detach();
  std::unique_lock lock{shared->mutex};
  const bool done = shared->done.wait_until(lock, stop, end, [&shared] { return shared->is_done; });
  error = shared->error;
  if (done) return std::move(shared->endpoints);
  error = boost::asio::error::timed_out;
  if (stop.stop_requested()) error = boost::asio::error::operation_aborted;
  return {};
}

}  // namespace seqtrain::http

namespace seqtrain::http::detail {

namespace asio = boost::asio;
namespace beast = boost::beast;

/// A TCP connection with deadlines. It has the interface of Asio's SyncStream, so Asio's TLS and
/// Beast's HTTP work on it. An operation that passes its deadline ends with
/// `beast::error::timeout`. It waits with poll(), because Asio's asynchronous operations take twice
/// as long to compile.
class TimedSocket {
 public:
  using ErrorCode = beast::error_code;
  using executor_type = asio::io_context::executor_type;
  using lowest_layer_type = TimedSocket;

  explicit TimedSocket(asio::io_context& io) : socket_{io} {}

  executor_type get_executor() { return socket_.get_executor(); }
  lowest_layer_type& lowest_layer() { return *this; }
  [[nodiscard]] int native_handle() { return socket_.native_handle(); }

  /// Sets the deadline of all operations from now on.
  void expires_at(Clock::time_point end) { end_ = end; }

  /// Lets a request of `stop` end all operations with `operation_aborted`.
  void stop_at(std::stop_token stop) { stop_ = std::move(stop); }

  /// Connects to the first endpoint that answers.
  template <class Endpoints>
  void connect(const Endpoints& endpoints, ErrorCode& error) {
    error = asio::error::host_not_found;
    for (const auto& endpoint : endpoints) {
      connect_to(endpoint, error);
      if (!error) break;
    }
    if (!error) socket_.set_option(asio::ip::tcp::no_delay{true}, error);
  }

  template <class Buffers>
  std::size_t read_some(const Buffers& buffers, ErrorCode& error) {
    return in_time(POLLIN, error, [&] { return socket_.read_some(buffers, error); });
  }

  template <class Buffers>
  std::size_t write_some(const Buffers& buffers, ErrorCode& error) {
    return in_time(POLLOUT, error, [&] { return socket_.write_some(buffers, error); });
  }

  // Asio's concept SyncStream requires these functions too.
  template <class Buffers>
  std::size_t read_some(const Buffers& buffers) {
    return or_throw([&](ErrorCode& error) { return read_some(buffers, error); });
  }
  template <class Buffers>
  std::size_t write_some(const Buffers& buffers) {
    return or_throw([&](ErrorCode& error) { return write_some(buffers, error); });
  }

 private:
  using Socket = asio::basic_stream_socket<asio::ip::tcp, executor_type>;

  void connect_to(const asio::ip::tcp::endpoint& address, ErrorCode& error) {
    ErrorCode ignored;
    socket_.close(ignored);  // another address did not answer
    socket_.open(address.protocol(), error);
    if (!error) socket_.non_blocking(true, error);
    if (error) return;
    // Asio's own connect has no deadline.
    auto size = static_cast<socklen_t>(address.size());
    int problem = ::connect(native_handle(), address.data(), size) == 0 ? 0 : errno;
    if (problem == EINPROGRESS) {
      wait(POLLOUT, error);
      if (error) return;
      size = sizeof(problem);
      ::getsockopt(native_handle(), SOL_SOCKET, SO_ERROR, &problem, &size);
    }
    error.assign(problem, boost::system::system_category());
  }

  template <class Operation>
  static std::size_t or_throw(const Operation& operation) {
    ErrorCode error;
    const std::size_t done = operation(error);
    if (error) throw beast::system_error{error};
    return done;
  }

  template <class Attempt>
  std::size_t in_time(short event, ErrorCode& error, const Attempt& attempt) {
    error = {};
    if (Clock::now() >= end_) error = beast::error::timeout;
    if (stop_.stop_requested()) error = asio::error::operation_aborted;
    while (!error) {
      const std::size_t done = attempt();
      if (error != asio::error::would_block) return done;
      wait(event, error);
    }
    return 0;
  }

  /// Waits until the socket is ready, or has an error that the next operation reports.
  void wait(short event, ErrorCode& error) {
    pollfd wanted{.fd = native_handle(), .events = event, .revents = 0};
    error = beast::error::timeout;
    while (error && Clock::now() < end_ && !stop_.stop_requested()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now());
      const auto bound = std::min<std::chrono::milliseconds>(left, longest_poll);
      if (::poll(&wanted, 1, static_cast<int>(bound.count())) > 0) error = {};
    }
    if (error && stop_.stop_requested()) error = asio::error::operation_aborted;
  }

  static constexpr std::chrono::milliseconds longest_poll{250};  ///< between checks of `stop`

  Socket socket_;
  Clock::time_point end_ = Clock::time_point::max();
  std::stop_token stop_;
};

}  // namespace seqtrain::http::detail
