#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>

namespace seqtrain::cli {

/// The meaning of `--precision auto`.
inline const std::string auto_precision =
    "auto (bf16 where it is native, else fp16 on GPUs from Volta on, else fp32)";
/// The help of `--device`.
inline constexpr const char* device_help =
    "auto, cpu, cuda or another device of LibTorch, such as cuda:1";
/// The help of `--deterministic`.
inline constexpr const char* deterministic_help =
    "use only operators that give equal bits each time; they are slower on a GPU";

/// Throws an `InputError` that names the flag unless `good` is true.
inline void require(bool good, const std::string& flag, const std::string& problem) {
  if (!good) throw InputError{problem, {.object = "--" + flag}};
}

/// Throws an `InputError` that names the flag unless it asks for at least `least` threads and for
/// no more than a process can use on this machine.
inline void require_threads(std::int64_t threads, const std::string& flag = "threads",
                            std::int64_t least = 1) {
  const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  const std::int64_t most = std::clamp<std::int64_t>(8 * cores, 256, 1024);
  require(threads >= least && threads <= most, flag,
          "must be from " + std::to_string(least) + " to " + std::to_string(most) +
              "; this machine has " + std::to_string(cores) + " cores");
}

/// Returns a flag's value as text from which the value can be read back exactly.
template <class T>
std::string flag_text(const T& value) {
  std::ostringstream stream;
  stream << value;
  std::string text = stream.str();
  if constexpr (std::is_floating_point_v<T>) {
    T again{};
    std::from_chars(text.data(), text.data() + text.size(), again);
    if (again == value || std::isnan(value)) return text;
    std::array<char, 32> digits{};  // a stream would write only six digits
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    text.assign(digits.data(), end);
  }
  return text;
}

/// Returns the parts as `split_at_commas` reads them.
inline std::string flag_text(const std::vector<std::string>& parts) {
  return joined_at_commas(parts);
}

/// Returns a default as the help shows it. NaN, which means that there is no default, is not
/// shown.
template <class T>
std::string default_text(const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return {};
  }
  return flag_text(value);
}

/// Returns a text quoted as one word for a shell.
inline std::string shell_word(const std::string& text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+-";
  if (!text.empty() && text.find_first_not_of(plain) == text.npos) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return word + "'";
}

}  // namespace seqtrain::cli
