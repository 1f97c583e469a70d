// Captures and replays two graphs of a GPU, and prints what the stand-in for LibTorch was asked
// for, or why there are none.
#include <iostream>

#include <c10/core/Device.h>
#include <c10/util/Exception.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/tensor/device.hpp>
#include <seqtrain/tensor/device_graph.hpp>

int main() {
  using namespace seqtrain;
  if (!tensor::has_cuda()) return 1;
  try {
    const auto first = tensor::detail::make_graph(c10::Device{"cuda:0"});
    first->begin(nullptr);
    first->end();
    first->replay();
    const auto second = tensor::detail::make_graph(c10::Device{"cuda:0"});
    second->begin(first.get());
    second->end();
  } catch (const c10::Error& error) {
    std::cout << error.what_without_backtrace() << '\n';
  } catch (const Error& error) {
    std::cout << error.what() << '\n';
  }
}
