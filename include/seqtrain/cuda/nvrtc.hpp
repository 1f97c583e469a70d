#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/shared_library.hpp>
#include <seqtrain/cuda/kernel_source.hpp>

namespace seqtrain::cuda {

/// NVRTC, NVIDIA's compiler of CUDA C++ as a library. It needs neither a GPU nor a driver. The
/// constructor loads it, so a program builds and starts without it.
class Nvrtc {
  template <class... Arguments>
  using Function = int (*)(Arguments...);
  using Program = void*;  // a handle
  using Texts = const char* const*;

  SharedLibrary library_;  // the first member: the functions are in it
  Function<int*, int*> get_version_ = library_.find("nvrtcVersion");
  const char* (*error_string_)(int) = library_.find("nvrtcGetErrorString");
  Function<Program*, const char*, const char*, int, Texts, Texts> create_ =
      library_.find("nvrtcCreateProgram");
  Function<Program*> destroy_ = library_.find("nvrtcDestroyProgram");
  Function<Program, int, Texts> compile_ = library_.find("nvrtcCompileProgram");
  Function<Program, std::size_t*> cubin_size_ = library_.find("nvrtcGetCUBINSize");
  Function<Program, char*> cubin_ = library_.find("nvrtcGetCUBIN");
  Function<Program, std::size_t*> log_size_ = library_.find("nvrtcGetProgramLogSize");
  Function<Program, char*> log_ = library_.find("nvrtcGetProgramLog");

 public:
  /// Throws `Error` if the library cannot be loaded or lacks a function, as those before CUDA 11.1
  /// do.
  explicit Nvrtc(const std::string& file) : library_{file} {
    int major = 0, minor = 0;
    check(get_version_(&major, &minor), "nvrtcVersion");
    version_ = std::to_string(major) + "." + std::to_string(minor);
  }

  /// Returns the version of CUDA, such as 13.0.
  [[nodiscard]] const std::string& version() const { return version_; }

  /// Compiles a kernel for GPUs of a compute capability, ten times which is `architecture`. Returns
  /// the cubin, a file of machine code. Throws `Error` with the compiler's messages.
  [[nodiscard]] std::string compile(const KernelSource& source, int architecture) const {
    const OwnedProgram program = create(source);
    const std::string target = "--gpu-architecture=sm_" + std::to_string(architecture);
    std::vector<const char*> all{target.c_str()};
    all.insert(all.end(), options.begin(), options.end());
    const int result = compile_(program.get(), static_cast<int>(all.size()), all.data());
    if (result != 0)
      throw Error{problem(result, program.get()), {.object = std::string{source.name}}};
    return text_of(program.get(), cubin_size_, cubin_, "nvrtcGetCUBIN");
  }

  /// The options of each compilation. Products and sums are not fused by the compiler, so that a
  /// kernel computes the bits that a processor computes from the same text.
  static constexpr std::array<const char*, 2> options{"--std=c++17", "--fmad=false"};

 private:
  struct Destroy {
    Function<Program*> destroy;
    void operator()(Program program) const { destroy(&program); }
  };
  using OwnedProgram = std::unique_ptr<void, Destroy>;

  [[nodiscard]] OwnedProgram create(const KernelSource& source) const {
    const std::string text{source.text}, name = std::string{source.name} + ".cu";
    Program program = nullptr;
    check(create_(&program, text.c_str(), name.c_str(), 0, nullptr, nullptr), "nvrtcCreateProgram");
    return OwnedProgram{program, Destroy{destroy_}};
  }

  [[nodiscard]] std::string text_of(Program program, Function<Program, std::size_t*> size_of,
                                    Function<Program, char*> get, const char* name) const {
    std::size_t size = 0;
    check(size_of(program, &size), name);
    std::string text(size, '\0');
    check(get(program, text.data()), name);
    return text;
  }

  [[nodiscard]] std::string problem(int result, Program program) const {
    const std::string log = text_of(program, log_size_, log_, "nvrtcGetProgramLog");
    return "NVRTC " + version_ + " cannot compile it: " + error_string_(result) + ": " +
           log.substr(0, log.find('\0'));
  }

  void check(int result, const char* name) const {
    if (result == 0) return;
    throw Error{std::string{name} + " says " + error_string_(result), {.object = "NVRTC"}};
  }

  std::string version_;
};

/// Returns names of NVRTC's library for CUDA's version `major`, the best first: that which the
/// system's loader finds, then those beside LibTorch, whose libraries are in `torch_lib`: PyPI's
/// wheels have it in a folder `nvidia`, and PyTorch's zip in LibTorch's own.
[[nodiscard]] inline std::vector<std::string> nvrtc_files(int major,
                                                          const std::filesystem::path& torch_lib) {
  const std::string name = "libnvrtc.so." + std::to_string(major);
  std::vector<std::string> files{name};
  const auto packages = torch_lib / "../../nvidia";
  for (const auto& place : {packages / ("cu" + std::to_string(major)) / "lib",
                            packages / "cuda_nvrtc/lib", torch_lib}) {
    std::error_code missing;
    if (std::filesystem::exists(place / name, missing)) files.push_back((place / name).string());
  }
  return files;
}

/// Loads the first of the libraries that can be loaded. Throws `Error` with the reason of the first
/// one if none can be.
[[nodiscard]] inline std::unique_ptr<const Nvrtc> open_nvrtc(
    const std::vector<std::string>& files) {
  std::string reason;
  for (const std::string& file : files) {
    try {
      return std::make_unique<const Nvrtc>(file);
    } catch (const Error& error) {
      if (reason.empty()) reason = error.what();
    }
  }
  throw Error{"cannot be loaded: " + reason,
              {.object = "NVRTC"},
              "PyPI's nvidia-cuda-nvrtc has it, which LD_LIBRARY_PATH may name"};
}

}  // namespace seqtrain::cuda
