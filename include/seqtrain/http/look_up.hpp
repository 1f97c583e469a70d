#pragma once

#include <condition_variable>
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
#include <boost/system/error_code.hpp>

#include <seqtrain/http/timing.hpp>

namespace seqtrain::http {

using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;

/// Finds the addresses of a host's port. The call may block without limit.
using Resolve = std::function<Endpoints(const std::string& host, const std::string& port,
                                        boost::system::error_code& error)>;

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
