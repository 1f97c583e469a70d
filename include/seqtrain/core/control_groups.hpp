#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <seqtrain/core/kernel_text.hpp>

namespace seqtrain {

/// Calls `visit(directory)` for each control group that holds this process, of version 1 and 2, and
/// for the groups around it, whose limits count too: under Slurm or systemd the limit is in an
/// inner group. `root` is the directory that contains proc and sys. A container may see its own
/// group as the outermost one although /proc/self/cgroup gives a longer path, so a directory need
/// not exist.
template <class Visit>
void visit_control_groups(const std::filesystem::path& root, const Visit& visit) {
  const auto text = kernel_text::read_start(root / "proc/self/cgroup");
  for (const auto line : kernel_text::words(text, "\n")) {  // number:controllers:path
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    auto controllers = kernel_text::words(line.substr(first + 1, second - first - 1), ",");
    if (controllers.empty()) controllers.emplace_back();  // version 2 has all in one hierarchy
    const std::filesystem::path path{std::string{line.substr(second + 1)}};
    for (const auto controller : controllers) {
      const auto hierarchy = root / "sys/fs/cgroup" / controller;
      for (auto group = path.lexically_normal().relative_path();; group = group.parent_path()) {
        visit(hierarchy / group);
        if (group.empty()) break;
      }
    }
  }
}

}  // namespace seqtrain
