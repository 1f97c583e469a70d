#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace seqtrain {

namespace detail {

/// Returns the number in a file of the kernel, or nothing if it holds none, such as "max".
inline std::optional<std::uint64_t> number_in_file(const std::filesystem::path& file) {
  std::ifstream in{file};
  std::uint64_t number = 0;
  return in >> number ? std::optional{number} : std::nullopt;
}

/// Returns the bytes of memory that the machine has left.
inline std::optional<std::uint64_t> machine_memory_left(const std::filesystem::path& root) {
  std::ifstream in{root / "proc/meminfo"};
  for (std::string word; in >> word;) {
    std::uint64_t kib = 0;
    if (word == "MemAvailable:" && in >> kib) return kib * 1024;
  }
  return {};
}

/// Returns the bytes of memory that a control group leaves to its processes.
inline std::optional<std::uint64_t> group_memory_left(const std::filesystem::path& most,
                                                      const std::filesystem::path& used) {
  const auto limit = number_in_file(most), now = number_in_file(used);
  if (!limit || !now) return {};
  return *limit - std::min(*limit, *now);
}

}  // namespace detail

/// Returns the bytes of memory that this process can still take, from the machine or from its
/// container if that leaves less. Returns nothing if the system does not tell. `root` is the
/// directory that contains proc and sys.
[[nodiscard]] inline std::optional<std::uint64_t> available_memory(
    const std::filesystem::path& root = "/") {
  const auto groups = root / "sys/fs/cgroup", old = groups / "memory";  // versions 2 and 1
  auto least = std::numeric_limits<std::uint64_t>::max();
  for (const auto left :
       {detail::machine_memory_left(root),
        detail::group_memory_left(groups / "memory.max", groups / "memory.current"),
        detail::group_memory_left(old / "memory.limit_in_bytes", old / "memory.usage_in_bytes")}) {
    least = std::min(least, left.value_or(least));
  }
  if (least == std::numeric_limits<std::uint64_t>::max()) return {};
  return least;
}

}  // namespace seqtrain
