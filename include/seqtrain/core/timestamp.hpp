#pragma once

#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>

namespace seqtrain {

/// Returns a time in ISO 8601, in UTC with milliseconds: `2026-01-31T09:05:00.250Z`.
inline std::string iso8601(std::chrono::system_clock::time_point time) {
  using std::chrono::milliseconds;
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const auto rest = std::chrono::duration_cast<milliseconds>(time - whole).count();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(whole);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char date[40];
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts);
  char millis[16];
  std::snprintf(millis, sizeof millis, ".%03dZ", static_cast<int>(rest));
  return std::string{date} + millis;
}

/// Returns the local time as a part of a file's name: `20260131_090500`.
inline std::string dated(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  char date[40];
  std::strftime(date, sizeof date, "%Y%m%d_%H%M%S", &parts);
  return date;
}

}  // namespace seqtrain
