#pragma once

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <seqtrain/cli/run.hpp>
#include <seqtrain/core/system_error.hpp>

namespace seqtrain::cli {

/// Options of `StopSignals`.
struct StopSignalsOptions {
  double grace_seconds = 25;  ///< longest time from the signal to the end of the program
  std::function<void(std::string_view)> log = {};
  /// Tells the log what the program does after a signal.
  std::string plan = "the program finishes this step, saves it and ends";
  /// Returns what is not done yet, for the log at the end of the grace time.
  std::function<std::string()> unfinished = [] { return std::string{}; };
};

/// Turns signals into a stop. While this object exists, the first SIGTERM or SIGINT requests a
/// stop; a second one, or the end of the grace time, ends the program at once. Only one may exist
/// at a time.
class StopSignals {
 public:
  explicit StopSignals(StopSignalsOptions options) : options_{std::move(options)} {
    if (::pipe2(pipe_.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
      throw system_error("cannot be made", "the pipe for signals");
    }
    write_end() = pipe_[1];
    detail::stop_signals() = 0;
    for (const int number : numbers) previous(number) = std::signal(number, &on_signal);
    watcher_ = std::jthread{[this](const std::stop_token& end) { watch(end); }};
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals() {
    for (const int number : numbers) std::signal(number, previous(number));
    watcher_.request_stop();
    (void)::write(pipe_[1], "", 1);
    watcher_.join();
    for (const int end : pipe_) ::close(end);
  }

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  using Handler = void (*)(int);
  static constexpr std::array numbers{SIGTERM, SIGINT};

  // A signal handler may use only lock-free atomics.
  static std::atomic<int>& write_end() {
    static std::atomic<int> end{-1};
    return end;
  }
  Handler& previous(int number) { return previous_[number == SIGTERM ? 0 : 1]; }

  static void on_signal(int number) {
    const int reason = errno;
    if (detail::stop_signals().fetch_add(1) > 0) ::_exit(128 + number);
    const char name = number == SIGTERM ? 'T' : 'I';
    [[maybe_unused]] const auto written = ::write(write_end(), &name, 1);
    errno = reason;
  }

  void say(const std::string& text) const {
    if (options_.log) options_.log(text);
  }

  void watch(const std::stop_token& end) {
    const char signal = await(std::chrono::milliseconds{-1});
    if (end.stop_requested()) return;
    const std::string name = signal == 'T' ? "SIGTERM" : "SIGINT";
    say(name + ": " + options_.plan + "; a second signal ends it at once");
    source_.request_stop();
    const std::chrono::duration<double> grace{options_.grace_seconds};
    await(std::chrono::ceil<std::chrono::milliseconds>(grace));
    if (end.stop_requested()) return;
    say("The grace time is over. " + options_.unfinished());
    end_at_once(failed);
  }

  /// Returns the next byte in the pipe, or 0 if none arrives in that time. A negative time means no
  /// limit.
  char await(std::chrono::milliseconds time) const {
    char byte = 0;
    pollfd wanted{.fd = pipe_[0], .events = POLLIN, .revents = 0};
    while (::poll(&wanted, 1, static_cast<int>(time.count())) < 0 && errno == EINTR) {
    }
    [[maybe_unused]] const auto read = ::read(pipe_[0], &byte, 1);
    return byte;
  }

  StopSignalsOptions options_;
  std::stop_source source_;
  std::array<int, 2> pipe_{};
  std::array<Handler, 2> previous_{};
  std::jthread watcher_;
};

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
