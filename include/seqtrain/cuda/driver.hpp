#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/shared_library.hpp>

namespace seqtrain::cuda {

/// NVIDIA's driver. The constructor loads it, so a program builds and starts without it. LibTorch
/// initializes it and makes the context of each GPU.
class Driver {
  template <class... Arguments>
  using Function = int (*)(Arguments...);
  using Context = void*;

 public:
  // The driver's handles.
  using Module = void*;
  using Entry = void*;
  using Stream = void*;

  /// Throws `Error` if the driver cannot be loaded or lacks a function.
  explicit Driver(const std::string& file = "libcuda.so.1") : library_{file} {}

  /// Lets the calling thread use a GPU, by LibTorch's context if the thread has none.
  void use_device(int index) const {
    Context context = nullptr;
    check(get_context_(&context), "cuCtxGetCurrent");
    if (context != nullptr) return;
    int device = 0;
    check(get_device_(&device, index), "cuDeviceGet");
    check(retain_context_(&context, device), "cuDevicePrimaryCtxRetain");
    check(set_context_(context), "cuCtxSetCurrent");
  }

  /// Loads a cubin into the memory of the GPU that the thread uses, where it stays, and returns a
  /// kernel of it.
  [[nodiscard]] Entry load(const std::string& cubin, const std::string& name) const {
    Module module = nullptr;
    check(load_(&module, cubin.data()), "cuModuleLoadData");
    Entry entry = nullptr;
    check(get_entry_(&entry, module, name.c_str()), "cuModuleGetFunction");
    return entry;
  }

  /// Queues a call of a kernel with one argument. The call copies the argument.
  void launch(Entry entry, unsigned blocks, unsigned threads, Stream stream, void* argument) const {
    void* arguments[] = {argument};
    const int result = launch_(entry, blocks, 1, 1, threads, 1, 1, 0, stream, arguments, nullptr);
    check(result, "cuLaunchKernel");
  }

 private:
  void check(int result, const char* function) const {
    if (result == 0) return;
    const char* text = nullptr;
    get_error_(result, &text);
    throw Error{std::string{function} + " fails with " + std::to_string(result) + ": " +
                    (text != nullptr ? text : "an error without a name"),
                {.object = "NVIDIA driver"}};
  }

  SharedLibrary library_;  // before the functions, which are in it
  Function<int, const char**> get_error_ = library_.find("cuGetErrorString");
  Function<Context*> get_context_ = library_.find("cuCtxGetCurrent");
  Function<Context> set_context_ = library_.find("cuCtxSetCurrent");
  Function<int*, int> get_device_ = library_.find("cuDeviceGet");
  Function<Context*, int> retain_context_ = library_.find("cuDevicePrimaryCtxRetain");
  Function<Module*, const void*> load_ = library_.find("cuModuleLoadData");
  Function<Entry*, Module, const char*> get_entry_ = library_.find("cuModuleGetFunction");
  Function<Entry, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream,
           void**, void**>
      launch_ = library_.find("cuLaunchKernel");
};

}  // namespace seqtrain::cuda
