#pragma once

#include <string>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/shared_library.hpp>

namespace seqtrain::machine {

/// NVIDIA's management library. The constructor loads and initializes it, so a program builds and
/// starts without it. Each function has the signature that the NVML API reference gives for its
/// name, and returns 0 on success.
class Nvml {
  template <class... Arguments>
  using Function = int (*)(Arguments...);

  const SharedLibrary library_;  // the first member: the functions are in it
  const Function<> init_ = library_.find("nvmlInit_v2");
  const Function<> shutdown_ = library_.find("nvmlShutdown");

 public:
  using Device = struct nvmlDevice_st*;
  struct Utilization {
    unsigned gpu = 0;     ///< percentage of time in which a kernel ran
    unsigned memory = 0;  ///< percentage of time in which memory was in use
  };
  struct Memory {
    unsigned long long total = 0;  ///< bytes
    unsigned long long free = 0;
    unsigned long long used = 0;
  };
  /// The result of every call for a GPU that has stopped answering until the machine restarts.
  static constexpr int gpu_is_lost = 15;

  /// Throws `Error` if the library cannot be loaded, lacks a function or finds no driver.
  explicit Nvml(const std::string& file) : library_{file} {
    const int result = init_();
    if (result != 0) throw Error{error_string(result), {.object = file}};
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml() { shutdown_(); }

  const char* (*const error_string)(int) = library_.find("nvmlErrorString");
  const Function<unsigned*> count = library_.find("nvmlDeviceGetCount_v2");
  const Function<unsigned, Device*> by_index = library_.find("nvmlDeviceGetHandleByIndex_v2");
  const Function<const char*, Device*> by_uuid = library_.find("nvmlDeviceGetHandleByUUID");
  const Function<Device, char*, unsigned> name = library_.find("nvmlDeviceGetName");
  const Function<Device, Utilization*> utilization = library_.find("nvmlDeviceGetUtilizationRates");
  const Function<Device, Memory*> memory = library_.find("nvmlDeviceGetMemoryInfo");
  /// Returns the power in milliwatts.
  const Function<Device, unsigned*> power = library_.find("nvmlDeviceGetPowerUsage");
  /// Returns the temperature in degrees Celsius. Sensor 0 is the only one.
  const Function<Device, int, unsigned*> temperature = library_.find("nvmlDeviceGetTemperature");
};

}  // namespace seqtrain::machine
