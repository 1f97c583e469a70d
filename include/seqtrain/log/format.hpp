#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace seqtrain::log {

/// Returns a number with this many decimals, such as `0.5931`.
inline std::string fixed(double value, int decimals) {
  std::array<char, 400> digits;  // the largest double has 309 digits before the point
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::fixed, decimals);
  return {digits.data(), end.ptr};
}

/// Returns the columns that a UTF-8 text takes on a terminal, one for each code point.
inline std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
  }));
}

/// Returns a text with spaces after it, `width` columns wide. A longer text stays as it is.
inline std::string left(std::string text, std::size_t width) {
  text.append(width - std::min(width, columns(text)), ' ');
  return text;
}

/// Returns a text with spaces before it, `width` columns wide. A longer text stays as it is.
inline std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, columns(text)), ' ') + text;
}

/// Returns a number with three digits and a unit of thousands: `9.52`, `521`, `15.2k`, `1.04M`.
inline std::string brief(double value) {
  constexpr std::array<const char*, 4> units{"", "k", "M", "G"};
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < units.size(); ++unit) value /= 1000;
  return fixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0) + units[unit];
}

/// Returns seconds as `0:07`, `12:07` or `1:02:07`.
inline std::string duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::clamp(std::round(seconds), 0.0, 1e12));
  const auto two = [](std::int64_t number) {
    return (number < 10 ? "0" : "") + std::to_string(number);
  };
  const std::int64_t minutes = whole / 60;
  if (minutes < 60) return std::to_string(minutes) + ":" + two(whole % 60);
  return std::to_string(minutes / 60) + ":" + two(minutes % 60) + ":" + two(whole % 60);
}

}  // namespace seqtrain::log
