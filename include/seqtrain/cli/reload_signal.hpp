#pragma once

#include <csignal>
#include <functional>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

namespace seqtrain::cli {

/// Calls a function on a separate thread for each SIGHUP while this object exists.
class ReloadSignal {
 public:
  explicit ReloadSignal(std::function<void()> reload) : reload_{std::move(reload)} {
    wait();
    thread_ = std::jthread{[this] { io_.run(); }};
  }
  ReloadSignal(const ReloadSignal&) = delete;
  ReloadSignal& operator=(const ReloadSignal&) = delete;
  ~ReloadSignal() { io_.stop(); }

 private:
  void wait() {
    signals_.async_wait([this](const auto& error, int) {
      if (error) return;
      reload_();
      wait();
    });
  }

  std::function<void()> reload_;
  boost::asio::io_context io_{1};
  boost::asio::signal_set signals_{io_, SIGHUP};
  std::jthread thread_;
};

}  // namespace seqtrain::cli
