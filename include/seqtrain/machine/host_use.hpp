#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

#include <seqtrain/core/control_groups.hpp>
#include <seqtrain/core/kernel_text.hpp>

namespace seqtrain::machine {

/// The processors and the memory that control groups leave to a process. Nothing means no limit.
struct ContainerLimits {
  std::optional<double> processors = {};  ///< 1.5 is one and a half
  std::optional<double> memory_mib = {};
};

namespace detail {

/// Returns the number of processors that a group's quota allows: processor time divided by the
/// period in which it may be spent.
inline std::optional<double> processors_of(const std::filesystem::path& group) {
  auto text = kernel_text::read_start(group / "cpu.max");  // version 2
  if (text.empty()) {
    text = kernel_text::read_start(group / "cpu.cfs_quota_us") +
           kernel_text::read_start(group / "cpu.cfs_period_us");
  }
  const auto parts = kernel_text::words(text);
  if (parts.size() != 2) return {};
  const auto quota = kernel_text::count(parts[0]), period = kernel_text::count(parts[1]);
  if (!quota || !period || *quota == 0 || *period == 0) return {};
  return *quota / *period;
}

inline std::optional<double> memory_mib_of(const std::filesystem::path& group) {
  auto text = kernel_text::read_start(group / "memory.max");  // version 2
  if (text.empty()) text = kernel_text::read_start(group / "memory.limit_in_bytes");
  const auto parts = kernel_text::words(text);
  const auto bytes = parts.size() == 1 ? kernel_text::count(parts[0]) : std::nullopt;
  return bytes ? std::optional{*bytes / (1 << 20)} : std::nullopt;
}

}  // namespace detail

/// Reads the limits of this process's control groups. `root` is the directory that contains proc
/// and sys. A directory that does not exist sets no limit.
inline ContainerLimits container_limits(const std::filesystem::path& root) {
  ContainerLimits limits;
  visit_control_groups(root, [&limits](const std::filesystem::path& group) {
    limits.processors = kernel_text::least({limits.processors, detail::processors_of(group)});
    limits.memory_mib = kernel_text::least({limits.memory_mib, detail::memory_mib_of(group)});
  });
  return limits;
}

/// The use of the processor and of memory at one moment. A figure that cannot be read is absent.
struct HostUse {
  std::optional<double> processor_percent = {};  ///< use by this process; 100 is one processor
  std::optional<double> machine_percent = {};    ///< use by all processes; 100 is all processors
  std::optional<double> memory_mib = {};         ///< resident memory of this process
  /// The processors that this process may use. A container's quota can make them fewer than those
  /// that it may run on.
  std::optional<double> processors = {};
  /// The memory in MiB of the machine, or of the container if that has less.
  std::optional<double> memory_limit_mib = {};
};

/// Reads the use of the processor and of memory from /proc. Percentages cover the time since the
/// last sample, so the first sample has none. `Clock` has a static `now()`.
template <class Clock = std::chrono::steady_clock>
class HostMeter {
 public:
  /// `root` is the directory that contains proc and sys.
  explicit HostMeter(std::filesystem::path root = "/") : root_{std::move(root)} {
    const auto limits = container_limits(root_);
    processors_ =
        kernel_text::least({limits.processors, allowed_processors(), online_processors()});
    memory_limit_mib_ = kernel_text::least({limits.memory_mib, machine_memory_mib()});
  }

  HostUse sample() {
    const Times now{Clock::now(), process_seconds(), machine_ticks()};
    const auto last = std::exchange(last_, now);
    return {.processor_percent = last ? processor_percent(*last, now) : std::nullopt,
            .machine_percent = last ? machine_percent(*last, now) : std::nullopt,
            .memory_mib = memory_mib(),
            .processors = processors_,
            .memory_limit_mib = memory_limit_mib_};
  }

 private:
  struct Ticks {
    double all = 0;
    double idle = 0;
  };

  struct Times {
    typename Clock::time_point time;
    std::optional<double> process_seconds;
    std::optional<Ticks> machine;
  };

  static std::optional<double> processor_percent(const Times& last, const Times& now) {
    const double seconds = std::chrono::duration<double>(now.time - last.time).count();
    if (!last.process_seconds || !now.process_seconds || seconds <= 0) return {};
    const double used = *now.process_seconds - *last.process_seconds;
    return used < 0 ? std::nullopt : std::optional{100 * used / seconds};
  }

  static std::optional<double> machine_percent(const Times& last, const Times& now) {
    if (!last.machine || !now.machine) return {};
    const double all = now.machine->all - last.machine->all;
    const double idle = now.machine->idle - last.machine->idle;
    if (all <= 0 || idle < 0 || idle > all) return {};  // the kernel's idle times may step back
    return 100 * (all - idle) / all;
  }

  /// Reads the processor time of all threads. The second field is the program's name in
  /// parentheses, which may contain anything; the times are the 14th and the 15th.
  [[nodiscard]] std::optional<double> process_seconds() const {
    const auto text = kernel_text::read_start(root_ / "proc/self/stat");
    const auto name_end = text.rfind(')');
    if (name_end == std::string::npos) return {};
    const auto fields = kernel_text::words(std::string_view{text}.substr(name_end + 1));
    if (fields.size() < 13) return {};
    const auto user = kernel_text::count(fields[11]), system = kernel_text::count(fields[12]);
    if (!user || !system) return {};
    return (*user + *system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }

  /// Reads the line `cpu user nice system idle iowait irq softirq steal …`. The times of guests,
  /// which follow, are part of user and nice.
  [[nodiscard]] std::optional<Ticks> machine_ticks() const {
    const auto text = kernel_text::read_start(root_ / "proc/stat");
    const auto fields = kernel_text::words(std::string_view{text}.substr(0, text.find('\n')));
    if (fields.size() < 6 || fields[0] != "cpu") return {};
    Ticks ticks;
    for (std::size_t i = 1; i < std::min<std::size_t>(fields.size(), 9); ++i) {
      const auto value = kernel_text::count(fields[i]);
      if (!value) return {};
      ticks.all += *value;
      if (i == 4 || i == 5) ticks.idle += *value;
    }
    return ticks;
  }

  [[nodiscard]] std::optional<double> memory_mib() const {
    const auto text = kernel_text::read_start(root_ / "proc/self/statm");
    const auto fields = kernel_text::words(text);
    const auto pages = fields.size() < 2 ? std::nullopt : kernel_text::count(fields[1]);
    if (!pages) return {};
    return *pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
  }

  [[nodiscard]] std::optional<double> machine_memory_mib() const {
    const auto text = kernel_text::read_start(root_ / "proc/meminfo");
    const auto kib = kernel_text::count(kernel_text::word_after("MemTotal:", text));
    return kib ? std::optional{*kib / 1024} : std::nullopt;
  }

  /// Counts the processors that this process may run on, which may include absent ones. The kernel
  /// writes them as bits of hexadecimal words: `3,ffffffff`.
  [[nodiscard]] std::optional<double> allowed_processors() const {
    const auto text = kernel_text::read_start(root_ / "proc/self/status");
    int bits = 0;
    for (const char digit : kernel_text::word_after("Cpus_allowed:", text)) {
      unsigned value = 0;
      std::from_chars(&digit, &digit + 1, value, 16);
      bits += std::popcount(value);
    }
    return bits > 0 ? std::optional<double>{bits} : std::nullopt;
  }

  /// Counts the lines `cpu0 …`, `cpu1 …` of the machine's processors.
  [[nodiscard]] std::optional<double> online_processors() const {
    const auto text = kernel_text::read_start(root_ / "proc/stat");
    const auto lines = kernel_text::words(text, "\n");
    const auto found = std::count_if(lines.begin(), lines.end(), [](std::string_view line) {
      return line.starts_with("cpu") && !line.starts_with("cpu ");
    });
    return found > 0 ? std::optional{static_cast<double>(found)} : std::nullopt;
  }

  std::filesystem::path root_;
  std::optional<double> processors_;
  std::optional<double> memory_limit_mib_;
  std::optional<Times> last_;
};

}  // namespace seqtrain::machine
