// Stands in for NVIDIA's libcuda.so.1: it loads what tests/cuda/fake_nvrtc.cpp compiles and counts
// calls of kernels. The environment makes the function FAKE_DRIVER_FAILS fail. It has the functions
// of tests/tensor/fake_driver.cpp too.
#include "../tensor/fake_driver.cpp"

#include <cstring>
#include <string>

namespace {

int context = 0, kernel = 0;
void* current = nullptr;
std::string calls;

int result_for(const char* function) {
  const char* const fails = std::getenv("FAKE_DRIVER_FAILS");
  return fails != nullptr && std::strcmp(fails, function) == 0 ? 209 : 0;
}

}  // namespace

extern "C" {

/// Returns what was called, a line for each call.
const char* fake_driver_calls() {
  return calls.c_str();
}

int cuGetErrorString(int result, const char** text) {
  *text = result == 209 ? "no kernel image is available for execution on the device" : nullptr;
  return 0;
}

int cuCtxGetCurrent(void** to) {
  *to = current;
  return result_for("cuCtxGetCurrent");
}

int cuDevicePrimaryCtxRetain(void** to, int device) {
  calls += "retain " + std::to_string(device) + "\n";
  *to = &context;
  return result_for("cuDevicePrimaryCtxRetain");
}

int cuCtxSetCurrent(void* to) {
  current = to;
  return result_for("cuCtxSetCurrent");
}

int cuModuleLoadData(void** module, const void* image) {
  const std::string text = static_cast<const char*>(image);
  calls += "load " + text.substr(0, text.find('\n')) + "\n";
  *module = &context;
  return text.starts_with("fake cubin") && current == &context ? result_for("cuModuleLoadData")
                                                               : 200;
}

int cuModuleGetFunction(void** function, void* /*module*/, const char* name) {
  calls += std::string{"find "} + name + "\n";
  *function = &kernel;
  return result_for("cuModuleGetFunction");
}

int cuLaunchKernel(void* function, unsigned blocks, unsigned y, unsigned z, unsigned threads,
                   unsigned thread_y, unsigned thread_z, unsigned shared, void* stream,
                   void** arguments, void** extra) {
  const bool fits = function == &kernel && y * z * thread_y * thread_z == 1 && shared == 0 &&
                    extra == nullptr && current == &context;
  calls += "launch " + std::to_string(blocks) + " x " + std::to_string(threads) + " of " +
           std::to_string(*static_cast<int*>(arguments[0])) + " on stream " +
           std::to_string(reinterpret_cast<unsigned long long>(stream)) + "\n";
  return fits ? result_for("cuLaunchKernel") : 1;
}

}  // extern "C"
