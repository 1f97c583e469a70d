// Counts and times what a program asks of CUDA: kernels, copies and calls of the runtime. CUDA
// loads the library into any program if CUDA_INJECTION64_PATH names it. At the program's end it
// writes a line for each name into the file that CUDA_PROFILE names: the kind, the number, the
// milliseconds and the name, separated by tabs.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <cupti.h>

namespace {

struct Sum {
  std::uint64_t count = 0, nanoseconds = 0;
};

std::mutex mutex;
std::map<std::pair<std::string, std::string>, Sum> sums;

void add(const char* kind, std::string name, std::uint64_t start, std::uint64_t end) {
  Sum& sum = sums[{kind, std::move(name)}];
  ++sum.count;
  sum.nanoseconds += end - start;
}

void add_runtime(const CUpti_ActivityAPI& call) {
  const char* name = nullptr;
  cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API, call.cbid, &name);
  add("call", name != nullptr ? name : "?", call.start, call.end);
}

void add_copy(const CUpti_ActivityMemcpy5& copy) {
  const bool to_host = copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
  const bool to_device = copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  add("copy",
      to_host     ? "to the host"
      : to_device ? "to the device"
                  : "on the device",
      copy.start, copy.end);
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  *size = std::size_t{8} << 20;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
  *records = 0;
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                          std::size_t valid) {
  const std::lock_guard lock{mutex};
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      const auto& kernel = *reinterpret_cast<const CUpti_ActivityKernel9*>(record);
      add("kernel", kernel.name, kernel.start, kernel.end);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_RUNTIME) {
      add_runtime(*reinterpret_cast<const CUpti_ActivityAPI*>(record));
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
      add_copy(*reinterpret_cast<const CUpti_ActivityMemcpy5*>(record));
    }
  }
  std::free(buffer);
}

void write() {
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  const char* path = std::getenv("CUDA_PROFILE");
  std::FILE* const file = std::fopen(path != nullptr ? path : "/dev/stderr", "w");
  if (file == nullptr) return;
  const std::lock_guard lock{mutex};
  for (const auto& [name, sum] : sums) {
    std::fprintf(file, "%s\t%llu\t%.3f\t%s\n", name.first.c_str(),
                 static_cast<unsigned long long>(sum.count),
                 static_cast<double>(sum.nanoseconds) / 1e6, name.second.c_str());
  }
  std::fclose(file);
}

}  // namespace

extern "C" int InitializeInjection() {
  cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
  std::atexit(write);
  return 1;
}
