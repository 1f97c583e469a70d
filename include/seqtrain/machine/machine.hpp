#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/log/format.hpp>
#include <seqtrain/machine/gpus.hpp>
#include <seqtrain/machine/host_use.hpp>
#include <seqtrain/metrics/metric.hpp>
#include <seqtrain/run/results.hpp>

namespace seqtrain::machine {

/// The use of a machine's processors, memory and GPUs at one moment.
struct MachineUse {
  HostUse host = {};
  std::vector<GpuUse> gpus = {};
};

/// Returns the figures that could be read, with names that contain their units.
inline std::vector<metrics::Figure> figures(const MachineUse& use) {
  std::vector<metrics::Figure> found;
  const auto add = [&](std::string name, std::optional<double> value) {
    if (value) found.push_back({.name = std::move(name), .value = *value});
  };
  add("processor_percent", use.host.processor_percent);
  add("machine_percent", use.host.machine_percent);
  add("memory_mib", use.host.memory_mib);
  for (std::size_t i = 0; i < use.gpus.size(); ++i) {
    const std::string gpu = "gpu" + std::to_string(i);
    add(gpu + "_percent", use.gpus[i].percent);
    add(gpu + "_memory_mib", use.gpus[i].memory_mib);
    add(gpu + "_power_watts", use.gpus[i].power_watts);
    add(gpu + "_celsius", use.gpus[i].celsius);
  }
  return found;
}

namespace detail {

inline std::string gib(double mib) {
  return log::fixed(mib / 1024, mib < 9.95 * 1024 ? 1 : 0);
}

/// Returns `40 of 80 GiB`, or `40 GiB` if there is no limit.
inline std::string memory(double mib, std::optional<double> limit_mib) {
  return gib(mib) + (limit_mib ? " of " + gib(*limit_mib) : "") + " GiB";
}

/// Returns `187 of 200 %`, or `187 %` if the number of processors is not known.
inline std::string processor(double percent, std::optional<double> processors) {
  return log::fixed(percent, 0) + (processors ? " of " + log::fixed(100 * *processors, 0) : "") +
         " %";
}

inline std::string describe(const HostUse& use) {
  std::vector<std::string> phrases;
  if (use.processor_percent) {
    phrases.push_back("processor " + processor(*use.processor_percent, use.processors));
  }
  if (use.memory_mib) phrases.push_back("memory " + memory(*use.memory_mib, use.memory_limit_mib));
  return joined(phrases);
}

inline std::string describe(const GpuUse& use) {
  std::vector<std::string> phrases;
  if (use.percent) phrases.push_back(log::fixed(*use.percent, 0) + " %");
  if (use.memory_mib) phrases.push_back(memory(*use.memory_mib, use.memory_limit_mib));
  if (use.power_watts) phrases.push_back(log::fixed(*use.power_watts, 0) + " W");
  if (use.celsius) phrases.push_back(log::fixed(*use.celsius, 0) + " °C");
  return phrases.empty() ? "no figures" : joined(phrases);
}

}  // namespace detail

/// Returns a line such as `Machine: processor 187 of 200 %, memory 1.2 of 24 GiB; GPU 0 NVIDIA
/// H100: 93 %, 40 of 80 GiB, 512 W, 61 °C`, or an empty text if there are no figures.
inline std::string describe(const MachineUse& use) {
  std::string text = detail::describe(use.host);
  for (std::size_t i = 0; i < use.gpus.size(); ++i) {
    if (!text.empty()) text += "; ";
    text += "GPU " + std::to_string(i) + " " + use.gpus[i].name + ": ";
    text += detail::describe(use.gpus[i]);
  }
  return text.empty() ? "" : "Machine: " + text;
}

/// Options of `Machine`.
struct MachineOptions {
  double seconds = 5;  ///< time from one sample to the next
  bool gpu = false;    ///< the run uses GPUs, so they are sampled as well
  /// Called on the sampling thread, once for each reason why figures are missing. It must not
  /// throw.
  std::function<void(std::string_view)> log = {};
  std::string nvml = "libnvidia-ml.so.1";  ///< NVIDIA's management library, by name or path
  std::filesystem::path root = "/";        ///< the directory that contains proc and sys

  void validate() const {
    if (seconds > 0 && seconds <= 86400) return;
    throw InputError{"must be above 0 and at most 86400 (a day)",
                     {.object = "machine", .field = "seconds"}};
  }
};

/// Samples the use of the processor, of memory and of the GPUs on a thread of its own while it
/// lives. It takes the first sample at once; percentages of the processor need two. No call waits
/// for a sample. Any thread may call the members.
class Machine {
 public:
  /// Throws `InputError` if an option is out of range. Figures that cannot be sampled are left out.
  explicit Machine(const MachineOptions& options = {}) {
    options.validate();
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    thread_ = std::jthread{
        [this, options, visible = visible ? std::optional<std::string>{visible} : std::nullopt](
            const std::stop_token& stop) { run(stop, options, visible); }};
  }
  /// Ends the thread without waiting for the next sample.
  ~Machine() = default;

  /// Returns the figures of the last sample, by the names in docs/machine.md.
  [[nodiscard]] std::vector<metrics::Figure> latest() const {
    const std::lock_guard lock{mutex_};
    return latest_;
  }

  /// Returns the last sample as a line of text, which is empty before the first sample.
  [[nodiscard]] std::string describe() const {
    const std::lock_guard lock{mutex_};
    return text_;
  }

  /// Returns the mean and the maximum of each figure over all samples.
  [[nodiscard]] std::vector<run::MachineFigure> summary() const {
    const std::lock_guard lock{mutex_};
    std::vector<run::MachineFigure> result;
    for (const auto& [name, sum, max, samples] : totals_) {
      result.push_back({.name = name, .mean = sum / static_cast<double>(samples), .max = max});
    }
    return result;
  }

 private:
  struct Total {
    std::string name;
    double sum = 0;
    double max = 0;
    std::int64_t samples = 0;
  };

  void run(const std::stop_token& stop, const MachineOptions& options,
           const std::optional<std::string>& visible) {
    HostMeter<> host{options.root};
    auto gpus = open_gpus(options, visible);
    const std::chrono::duration<double> pause{options.seconds};
    const auto stopped = [&] { return stop.stop_requested(); };
    std::unique_lock lock{mutex_, std::defer_lock};
    do {
      const MachineUse use{host.sample(), gpus ? gpus->sample() : std::vector<GpuUse>{}};
      auto figures = machine::figures(use);
      auto text = machine::describe(use);
      lock.lock();
      for (const auto& figure : figures) add(figure);
      latest_ = std::move(figures);
      text_ = std::move(text);
      wake_.wait_for(lock, stop, pause, stopped);
      lock.unlock();
    } while (!stopped());
  }

  static std::optional<Gpus> open_gpus(const MachineOptions& options,
                                       const std::optional<std::string>& visible) {
    if (!options.gpu) return {};
    try {
      return std::optional<Gpus>{std::in_place, options.nvml, visible, options.log};
    } catch (const Error& error) {
      if (options.log) {
        options.log("The use of the GPUs cannot be read: " + std::string{error.what()} +
                    "; training goes on without it. NVML comes with NVIDIA's driver, and a "
                    "container needs the driver's libraries");
      }
      return {};
    }
  }

  void add(const metrics::Figure& figure) {
    auto total = std::ranges::find(totals_, figure.name, &Total::name);
    if (total == totals_.end()) {
      total = totals_.insert(total, {.name = figure.name, .max = figure.value});
    }
    total->sum += figure.value;
    total->max = std::max(total->max, figure.value);
    ++total->samples;
  }

  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::vector<metrics::Figure> latest_;
  std::string text_;
  std::vector<Total> totals_;
  std::jthread thread_;  // the last member, so that it ends before those that it uses
};

}  // namespace seqtrain::machine
