// Stands in for NVIDIA's libnvrtc.so: version 12.9, or FAKE_NVRTC_VERSION, such as 1305. The cubin
// is a text of the options and the source. The environment makes the function FAKE_NVRTC_FAILS
// fail, and FAKE_NVRTC_COUNT is a file that gets a byte for each compilation.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace {

/// What a handle of NVRTC stands for.
struct Program {
  std::string source, cubin, log;
};

Program& at(void* handle) {
  return *static_cast<Program*>(handle);
}

int result_of(const std::string& function) {
  const char* const fails = std::getenv("FAKE_NVRTC_FAILS");
  return fails != nullptr && fails == function ? 6 : 0;
}

int copy(const std::string& from, char* to) {
  std::memcpy(to, from.c_str(), from.size() + 1);
  return 0;
}

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
  const char* const version = std::getenv("FAKE_NVRTC_VERSION");
  const int number = version != nullptr ? std::atoi(version) : 1209;
  *major = number / 100;
  *minor = number % 100;
  return result_of("nvrtcVersion");
}

const char* nvrtcGetErrorString(int result) {
  return result == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_UNKNOWN";
}

int nvrtcCreateProgram(void** program, const char* source, const char* /*name*/, int /*headers*/,
                       const char* const* /*texts*/, const char* const* /*names*/) {
  const int result = result_of("nvrtcCreateProgram");
  if (result == 0) *program = new Program{source, "", ""};
  return result;
}

int nvrtcDestroyProgram(void** program) {
  delete &at(*program);
  return 0;
}

int nvrtcCompileProgram(void* program, int count, const char* const* options) {
  if (const char* const file = std::getenv("FAKE_NVRTC_COUNT")) {
    std::ofstream{file, std::ios::app} << '.';
  }
  at(program).cubin = "fake cubin";
  for (int i = 0; i < count; ++i) at(program).cubin.append(" ").append(options[i]);
  at(program).cubin += "\n" + at(program).source;
  at(program).log = "line 3: expected a ;";
  return result_of("nvrtcCompileProgram");
}

int nvrtcGetCUBINSize(void* program, std::size_t* size) {
  *size = at(program).cubin.size() + 1;
  return 0;
}
int nvrtcGetCUBIN(void* program, char* to) {
  return copy(at(program).cubin, to) + result_of("nvrtcGetCUBIN");
}
int nvrtcGetProgramLogSize(void* program, std::size_t* size) {
  *size = at(program).log.size() + 1;
  return 0;
}
int nvrtcGetProgramLog(void* program, char* to) {
  return copy(at(program).log, to);
}

}  // extern "C"
