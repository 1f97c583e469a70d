// Calls a kernel on a GPU and prints what the stand-in for the driver was asked for, or why the
// kernel cannot be called.
#include <iostream>
#include <string>

#include <c10/core/Device.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/shared_library.hpp>
#include <seqtrain/cuda/kernel_source.hpp>
#include <seqtrain/tensor/device.hpp>
#include <seqtrain/tensor/device_kernel.hpp>

int main() {
  using namespace seqtrain;
  if (!tensor::has_cuda()) {
    std::cout << tensor::cuda_problem() << '\n';
    return 1;
  }
  try {
    constexpr cuda::KernelSource source{"double_it", "void double_it();"};
    const auto say = [](const std::string& text) { std::cout << text << '\n'; };
    const auto kernel = tensor::load_kernel(source, c10::Device{"cuda:0"}, say);
    int argument = 7;
    kernel->call({.blocks = 3, .threads = 32, .argument = &argument});
    const SharedLibrary driver{"libcuda.so.1"};
    const char* (*const calls)() = driver.find("fake_driver_calls");
    std::cout << calls();
  } catch (const Error& error) {
    std::cout << error.what() << '\n';
  }
}
