#pragma once

#include <chrono>
#include <condition_variable>
#include <ctime>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <string_view>

namespace seqtrain::http {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// Receives one line about each retry and each failed renewal. Several threads may call it at once.
using Log = std::function<void(std::string_view)>;

/// Returns a random number in [0, 1). Several threads may call it.
inline double random_unit() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return std::uniform_real_distribution<double>{}(generator);
}

/// Sleeps for that time, or until `stop` requests it.
inline void sleep_until_stopped(Seconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock{mutex};
  never.wait_for(lock, stop, time, [] { return false; });
}

/// The clocks and the random numbers of the client. Tests replace them. Waits and lifetimes use the
/// steady clock, which is never adjusted. The wall clock is used only for dates in protocols.
struct Timing {
  std::function<Clock::time_point()> now = &Clock::now;
  std::function<void(Seconds, const std::stop_token&)> sleep = &sleep_until_stopped;
  std::function<double()> random = &random_unit;
  std::function<std::time_t()> wall_seconds = [] { return std::time(nullptr); };
  std::stop_token stop = {};  ///< ends sleeps and prevents further attempts
};

/// Parses an HTTP date such as `Sun, 06 Nov 1994 08:49:37 GMT`. Returns seconds since 1970.
inline std::optional<std::time_t> parse_http_date(const std::string& text) {
  std::tm parts{};
  const char* end = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return {};
  return ::timegm(&parts);
}

}  // namespace seqtrain::http
