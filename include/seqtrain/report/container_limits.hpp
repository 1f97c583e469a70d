#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <seqtrain/report/kernel_text.hpp>

namespace seqtrain::report {

/// The processors and the memory that control groups leave to a process. Nothing means no limit.
struct ContainerLimits {
  std::optional<double> processors = {};  ///< 1.5 is one and a half
  std::optional<double> memory_mib = {};
};

namespace detail {

/// Returns the number of processors that a group's quota allows: processor time divided by the
/// period in which it may be spent.
inline std::optional<double> processors_of(const std::filesystem::path& group) {
  auto text = read_start(group / "cpu.max");  // version 2
  if (text.empty()) {
    text = read_start(group / "cpu.cfs_quota_us") + read_start(group / "cpu.cfs_period_us");
  }
  const auto parts = words(text);
  if (parts.size() != 2) return {};
  const auto quota = count(parts[0]), period = count(parts[1]);
  if (!quota || !period || *quota == 0 || *period == 0) return {};
  return *quota / *period;
}

inline std::optional<double> memory_mib_of(const std::filesystem::path& group) {
  auto text = read_start(group / "memory.max");  // version 2
  if (text.empty()) text = read_start(group / "memory.limit_in_bytes");
  const auto parts = words(text);
  const auto bytes = parts.size() == 1 ? count(parts[0]) : std::nullopt;
  return bytes ? std::optional{*bytes / (1 << 20)} : std::nullopt;
}

}  // namespace detail

/// Reads the limits of this process's control groups, of version 1 and 2. `root` is the directory
/// that contains proc and sys. A group is also held to the limits of the groups around it. A
/// container may see its own group as the outermost one although /proc/self/cgroup gives a longer
/// path; a directory that does not exist sets no limit.
inline ContainerLimits container_limits(const std::filesystem::path& root) {
  ContainerLimits limits;
  const auto text = read_start(root / "proc/self/cgroup");
  for (const auto line : words(text, "\n")) {  // number:controllers:path
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    auto controllers = words(line.substr(first + 1, second - first - 1), ",");
    if (controllers.empty()) controllers.emplace_back();  // version 2 has all in one hierarchy
    const std::filesystem::path path{std::string{line.substr(second + 1)}};
    for (const auto controller : controllers) {
      const auto hierarchy = root / "sys/fs/cgroup" / controller;
      for (auto group = path.lexically_normal().relative_path();; group = group.parent_path()) {
        limits.processors = least({limits.processors, detail::processors_of(hierarchy / group)});
        limits.memory_mib = least({limits.memory_mib, detail::memory_mib_of(hierarchy / group)});
        if (group.empty()) break;
      }
    }
  }
  return limits;
}

}  // namespace seqtrain::report
