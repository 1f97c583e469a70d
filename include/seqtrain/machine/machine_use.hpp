#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/joined.hpp>
#include <seqtrain/log/format.hpp>
#include <seqtrain/machine/gpus.hpp>
#include <seqtrain/machine/host_use.hpp>
#include <seqtrain/metrics/metric.hpp>

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

}  // namespace seqtrain::machine
