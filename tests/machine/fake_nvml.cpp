// A stand-in for NVIDIA's management library: two GPUs, whose figures do not change. The
// environment makes functions fail: FAKE_NVML_<function> is the result of a function,
// FAKE_NVML_LOST the index of a GPU that is lost.

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <seqtrain/machine/gpus.hpp>

namespace {

using Nvml = seqtrain::machine::Nvml;

constexpr int not_found = 6;
constexpr unsigned long long gib = 1ULL << 30;

struct Gpu {
  const char* name;
  std::string_view uuid;
  Nvml::Utilization rates;
  Nvml::Memory memory;
  unsigned milliwatts;
  unsigned degrees;
};

constexpr std::array<Gpu, 2> gpus{{
    {"NVIDIA H100", "GPU-aa", {93, 40}, {80 * gib, 40 * gib, 40 * gib}, 512250, 61},
    {"Tesla T4", "GPU-bb", {7, 1}, {15 * gib, 14 * gib, gib}, 30000, 33},
}};

int users = 0;

int result_of(const char* function) {
  const char* const result = std::getenv(("FAKE_NVML_" + std::string{function}).c_str());
  return result != nullptr ? std::atoi(result) : 0;
}

const Gpu& gpu_of(Nvml::Device device) {
  return *reinterpret_cast<const Gpu*>(device);
}

int result_for(Nvml::Device device, const char* function) {
  const char* const lost = std::getenv("FAKE_NVML_LOST");
  const bool is_lost = lost != nullptr && &gpus.at(std::stoul(lost)) == &gpu_of(device);
  return is_lost ? Nvml::gpu_is_lost : result_of(function);
}

Nvml::Device device_of(const Gpu& gpu) {
  return reinterpret_cast<Nvml::Device>(const_cast<Gpu*>(&gpu));
}

}  // namespace

extern "C" {

int fake_nvml_users() {
  return users;
}

int nvmlInit_v2() {
  const int result = result_of("nvmlInit_v2");
  users += result == 0;
  return result;
}

int nvmlShutdown() {
  --users;
  return 0;
}

const char* nvmlErrorString(int result) {
  switch (result) {
    case 3:
      return "Not Supported";
    case 9:
      return "Driver Not Loaded";
    case Nvml::gpu_is_lost:
      return "GPU is lost";
    default:
      return "Unknown Error";
  }
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = gpus.size();
  return result_of("nvmlDeviceGetCount_v2");
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, Nvml::Device* device) {
  if (index >= gpus.size()) return not_found;
  if (const int result = result_for(device_of(gpus[index]), "nvmlDeviceGetHandleByIndex_v2")) {
    return result;
  }
  *device = device_of(gpus[index]);
  return 0;
}

int nvmlDeviceGetHandleByUUID(const char* uuid, Nvml::Device* device) {
  for (const auto& gpu : gpus) {
    if (gpu.uuid != uuid) continue;
    *device = device_of(gpu);
    return 0;
  }
  return not_found;
}

int nvmlDeviceGetName(Nvml::Device device, char* name, unsigned length) {
  if (const int result = result_for(device, "nvmlDeviceGetName")) return result;
  std::snprintf(name, length, "%s", gpu_of(device).name);
  return 0;
}

int nvmlDeviceGetUtilizationRates(Nvml::Device device, Nvml::Utilization* rates) {
  if (const int result = result_for(device, "nvmlDeviceGetUtilizationRates")) return result;
  *rates = gpu_of(device).rates;
  return 0;
}

int nvmlDeviceGetMemoryInfo(Nvml::Device device, Nvml::Memory* memory) {
  if (const int result = result_for(device, "nvmlDeviceGetMemoryInfo")) return result;
  *memory = gpu_of(device).memory;
  return 0;
}

int nvmlDeviceGetPowerUsage(Nvml::Device device, unsigned* milliwatts) {
  if (const int result = result_for(device, "nvmlDeviceGetPowerUsage")) return result;
  *milliwatts = gpu_of(device).milliwatts;
  return 0;
}

int nvmlDeviceGetTemperature(Nvml::Device device, int sensor, unsigned* degrees) {
  if (const int result = result_for(device, "nvmlDeviceGetTemperature")) return result;
  *degrees = sensor == 0 ? gpu_of(device).degrees : 0;
  return 0;
}
}
