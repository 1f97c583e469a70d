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

namespace seqtrain::gcs {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// One line about something that went otherwise than hoped: a retry, an early renewal that failed.
/// May be called from several threads at once.
using Log = std::function<void(std::string_view)>;

/// Uniform in [0, 1). Safe from several threads.
inline double random_unit() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return std::uniform_real_distribution<double>{}(generator);
}

/// Sleeps for that time, or until `stop` asks to end.
inline void sleep_until_stopped(Seconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock{mutex};
  never.wait_for(lock, stop, time, [] { return false; });
}

/// Where time and chance come from; tests bring their own. Waiting and lifetimes go by the steady
/// clock, which no correction moves; the wall clock serves only where a protocol wants a date.
struct Timing {
  std::function<Clock::time_point()> now = &Clock::now;
  std::function<void(Seconds, const std::stop_token&)> sleep = &sleep_until_stopped;
  std::function<double()> random = &random_unit;
  std::function<std::time_t()> wall_seconds = [] { return std::time(nullptr); };
  std::stop_token stop = {};  ///< ends sleeps, and what would be tried again
};

/// A date as HTTP writes it, `Sun, 06 Nov 1994 08:49:37 GMT`, in seconds since 1970.
inline std::optional<std::time_t> parse_http_date(const std::string& text) {
  std::tm parts{};
  const char* end = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return {};
  return ::timegm(&parts);
}

}  // namespace seqtrain::gcs
