#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <sys/resource.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <seqtrain/core/control_groups.hpp>
#include <seqtrain/core/kernel_text.hpp>
#include <seqtrain/core/parse_number.hpp>

namespace seqtrain {

namespace detail {

/// Returns the number in a file of the kernel, after the word `name` if one is given. Returns
/// nothing if it holds none, such as "max".
inline std::optional<std::uint64_t> number_in_file(const std::filesystem::path& file,
                                                   std::string_view name = {}) {
  const std::string text = kernel_text::read_start(file);
  if (!name.empty()) return parse_number<std::uint64_t>(kernel_text::word_after(name, text));
  const auto words = kernel_text::words(text);
  return words.empty() ? std::nullopt : parse_number<std::uint64_t>(words[0]);
}

constexpr auto unlimited = std::numeric_limits<std::uint64_t>::max();

/// Returns the bytes of memory that a control group leaves to its processes. `used` includes pages
/// of files; the kernel drops those that `inactive` counts when memory is needed.
inline std::uint64_t group_memory_left(const std::filesystem::path& group, const char* most,
                                       const char* used, std::string_view inactive) {
  const auto limit = number_in_file(group / most), now = number_in_file(group / used);
  if (!limit || !now) return unlimited;
  const auto dropped = number_in_file(group / "memory.stat", inactive).value_or(0);
  return *limit - std::min(*limit, *now - std::min(*now, dropped));
}

}  // namespace detail

/// Returns the bytes of memory that this process can still take, from the machine or from its
/// control groups if one of them leaves less. Returns nothing if the system does not tell. `root`
/// is the directory that contains proc and sys.
[[nodiscard]] inline std::optional<std::uint64_t> available_memory(
    const std::filesystem::path& root = "/") {
  const auto kib = detail::number_in_file(root / "proc/meminfo", "MemAvailable:");
  std::uint64_t least = kib ? *kib * 1024 : detail::unlimited;
  visit_control_groups(root, [&least](const std::filesystem::path& group) {
    least = std::min(
        {least, detail::group_memory_left(group, "memory.max", "memory.current", "inactive_file"),
         detail::group_memory_left(group, "memory.limit_in_bytes", "memory.usage_in_bytes",
                                   "total_inactive_file")});
  });
  return least == detail::unlimited ? std::nullopt : std::optional{least};
}

/// Returns the largest resident memory of this process so far, in MiB. It reads /proc if it can,
/// because getrusage also counts the process that called `exec`, which may have been larger.
inline double peak_memory_mib() {
  const auto kib = detail::number_in_file("/proc/self/status", "VmHWM:");
  if (kib) return static_cast<double>(*kib) / 1024;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;  // Linux counts in KiB
}

/// Gives freed memory of the process back to the system. glibc keeps what it has once had in pieces
/// of up to 32 MiB. Does nothing with another C library.
inline void return_freed_memory() noexcept {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace seqtrain
