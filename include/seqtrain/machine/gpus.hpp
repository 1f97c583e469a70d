#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/kernel_text.hpp>
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
  /// A GPU's load in the last sampling period, as NVML lays it out.
  struct Utilization {
    unsigned gpu = 0;     ///< percentage of time in which a kernel ran
    unsigned memory = 0;  ///< percentage of time in which memory was in use
  };
  /// A GPU's memory in bytes, as NVML lays it out.
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

/// The use of a GPU at one moment, by all processes. A figure that cannot be read is absent.
struct GpuUse {
  std::string name = "";               ///< the product, such as `NVIDIA H100 80GB HBM3`
  std::optional<double> percent = {};  ///< the share of time in which a kernel ran
  std::optional<double> memory_mib = {};
  std::optional<double> memory_limit_mib = {};  ///< memory of the GPU
  std::optional<double> power_watts = {};
  std::optional<double> celsius = {};
};

/// Reads the use of the GPUs that this process can see, by NVML. Their numbers are CUDA's if all
/// GPUs of the machine are of one kind. Otherwise CUDA puts the fastest first, unless
/// CUDA_DEVICE_ORDER is PCI_BUS_ID.
class Gpus {
 public:
  using Log = std::function<void(std::string_view)>;

  /// `library` is NVML's file, by name or path. `visible` is the value of CUDA_VISIBLE_DEVICES, or
  /// nothing if it is not set. `log` is called once for each GPU and figure that cannot be read.
  /// Throws `Error` if NVML cannot be used.
  Gpus(const std::string& library, const std::optional<std::string>& visible, Log log)
      : nvml_{library}, log_{std::move(log)} {
    visible ? add_visible(*visible) : add_all();
  }

  /// Returns the use of each GPU, in order. A GPU that no longer answers keeps its place, without
  /// figures.
  std::vector<GpuUse> sample() {
    std::vector<GpuUse> uses;
    for (std::size_t i = 0; i < gpus_.size(); ++i) uses.push_back(sample(i));
    return uses;
  }

 private:
  struct Gpu {
    Nvml::Device device = nullptr;
    std::string name = "";
    bool lost = false;
    std::vector<std::string_view> told = {};  // figures whose failure is logged already
  };

  void add_all() {
    unsigned count = 0;
    if (const int result = nvml_.count(&count); result != 0) {
      throw Error{nvml_.error_string(result), {.object = "NVML"}};
    }
    for (unsigned i = 0; i < count; ++i) {
      if (const auto device = find(std::to_string(i))) add(*device);
    }
  }

  /// Adds the GPUs of a list of indices and UUIDs. Like CUDA, it ignores the list from the first -1
  /// or unknown GPU on.
  void add_visible(std::string_view list) {
    for (const auto word : kernel_text::words(list, ", ")) {
      if (word == "-1") return;
      const auto device = find(std::string{word});
      if (!device) {
        return tell("CUDA_VISIBLE_DEVICES: " + std::string{word} +
                    ": no GPU has this index or UUID; write it as nvidia-smi -L does");
      }
      add(*device);
    }
  }

  [[nodiscard]] std::optional<Nvml::Device> find(const std::string& entry) const {
    Nvml::Device device = nullptr;
    const auto index = kernel_text::count(entry);
    const int result = index ? nvml_.by_index(static_cast<unsigned>(std::min(*index, 1e9)), &device)
                             : nvml_.by_uuid(entry.c_str(), &device);
    return result == 0 ? std::optional{device} : std::nullopt;
  }

  void add(Nvml::Device device) {
    std::array<char, 96> name{};  // NVML_DEVICE_NAME_V2_BUFFER_SIZE
    nvml_.name(device, name.data(), name.size());
    gpus_.push_back({.device = device, .name = name.data()});
  }

  GpuUse sample(std::size_t i) {
    GpuUse use{.name = gpus_[i].name};
    constexpr double mib = 1 << 20;
    if (Nvml::Utilization rates; read(i, "its use", nvml_.utilization, &rates)) {
      use.percent = rates.gpu;
    }
    if (Nvml::Memory memory; read(i, "its memory", nvml_.memory, &memory)) {
      use.memory_mib = static_cast<double>(memory.used) / mib;
      use.memory_limit_mib = static_cast<double>(memory.total) / mib;
    }
    if (unsigned milliwatts = 0; read(i, "its power", nvml_.power, &milliwatts)) {
      use.power_watts = milliwatts / 1000.0;
    }
    if (unsigned degrees = 0; read(i, "its temperature", nvml_.temperature, 0, &degrees)) {
      use.celsius = degrees;
    }
    return use;
  }

  /// Calls a function for a GPU that still answers. Returns whether the call succeeded.
  template <class Function, class... Arguments>
  bool read(std::size_t i, std::string_view figure, Function function, Arguments... arguments) {
    return !gpus_[i].lost && check(i, function(gpus_[i].device, arguments...), figure);
  }

  /// Returns whether a call succeeded. Logs the first failure of each figure.
  bool check(std::size_t i, int result, std::string_view figure) {
    if (result == 0) return true;
    Gpu& gpu = gpus_[i];
    gpu.lost = result == Nvml::gpu_is_lost;
    if (std::find(gpu.told.begin(), gpu.told.end(), figure) != gpu.told.end()) return false;
    gpu.told.push_back(figure);
    tell("GPU " + std::to_string(i) + " " + gpu.name + ": " + std::string{figure} +
         " cannot be read: " + nvml_.error_string(result) + "; training goes on without " +
         (gpu.lost ? "this GPU's figures" : "this figure"));
    return false;
  }

  void tell(const std::string& text) const {
    if (log_) log_(text);
  }

  Nvml nvml_;
  Log log_;
  std::vector<Gpu> gpus_;
};

}  // namespace seqtrain::machine
