// Stands in for NVIDIA's libnvrtc.so: version 12.9, or FAKE_NVRTC_VERSION, such as 1305. The cubin
// is a text of the options and the source. The environment makes the function FAKE_NVRTC_FAILS
// fail, and FAKE_NVRTC_COUNT is a file that gets a byte for each compilation.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

struct nvrtcProgram_st {
  std::string source, cubin, log;
};

namespace {

using Program = nvrtcProgram_st*;

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

int nvrtcCreateProgram(Program* program, const char* source, const char* /*name*/, int /*headers*/,
                       const char* const* /*texts*/, const char* const* /*names*/) {
  *program = new nvrtcProgram_st{source, "", ""};
  return result_of("nvrtcCreateProgram");
}

int nvrtcDestroyProgram(Program* program) {
  delete *program;
  return 0;
}

int nvrtcCompileProgram(Program program, int count, const char* const* options) {
  if (const char* const file = std::getenv("FAKE_NVRTC_COUNT")) {
    std::ofstream{file, std::ios::app} << '.';
  }
  program->cubin = "fake cubin";
  for (int i = 0; i < count; ++i) program->cubin.append(" ").append(options[i]);
  program->cubin += "\n" + program->source;
  program->log = "line 3: expected a ;";
  return result_of("nvrtcCompileProgram");
}

int nvrtcGetCUBINSize(Program program, std::size_t* size) {
  *size = program->cubin.size() + 1;
  return 0;
}
int nvrtcGetCUBIN(Program program, char* to) {
  return copy(program->cubin, to) + result_of("nvrtcGetCUBIN");
}
int nvrtcGetProgramLogSize(Program program, std::size_t* size) {
  *size = program->log.size() + 1;
  return 0;
}
int nvrtcGetProgramLog(Program program, char* to) {
  return copy(program->log, to);
}

}  // extern "C"
