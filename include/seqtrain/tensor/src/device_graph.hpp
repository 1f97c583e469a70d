#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/native_dropout.h>
#include <ATen/ops/ones.h>
#include <c10/core/Device.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Stream.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <dlfcn.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/shared_library.hpp>
#include <seqtrain/tensor/device_graph.hpp>
#include <seqtrain/tensor/generator.hpp>

namespace seqtrain::tensor {

namespace detail {

/// The functions of LibTorch's `at::cuda::CUDAGraph` by the names that g++ and clang give them,
/// because its header needs those of CUDA. They are the same from LibTorch 2.11 to 2.13.
struct CudaGraphFunctions {
  using Pool = std::pair<unsigned long long, unsigned long long>;  // c10::MempoolId_t

  SharedLibrary library{"libtorch_cuda.so"};  // the first member: the functions are in it
  void (*construct)(void*, bool) = library.find("_ZN2at4cuda9CUDAGraphC1Eb");
  void (*destroy)(void*) = library.find("_ZN2at4cuda9CUDAGraphD1Ev");
  void (*begin)(void*, Pool, int) =
      library.find("_ZN2at4cuda9CUDAGraph13capture_beginESt4pairIyyE21cudaStreamCaptureMode");
  void (*end)(void*) = library.find("_ZN2at4cuda9CUDAGraph11capture_endEv");
  void (*replay)(void*) = library.find("_ZN2at4cuda9CUDAGraph6replayEv");
  Pool (*pool)(void*) = library.find("_ZN2at4cuda9CUDAGraph4poolEv");

  /// Loads them once. Throws `Error` if LibTorch lacks one.
  [[nodiscard]] static const CudaGraphFunctions& get() {
    static const CudaGraphFunctions& all = *new CudaGraphFunctions;  // as long as any graph
    return all;
  }
};

/// A graph of LibTorch on an NVIDIA GPU.
class CudaGraph : public DeviceGraph {
 public:
  CudaGraph() { call_.construct(&memory_->bytes, /*keep_graph=*/false); }
  ~CudaGraph() override {
    // The allocator still knows a graph whose capture did not end, so its memory stays.
    if (state_ == State::captures) {
      static_cast<void>(memory_.release());
    } else {
      call_.destroy(&memory_->bytes);
    }
  }
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  void begin(const DeviceGraph* beside) override {
    constexpr int thread_local_mode = 1;  // other threads may do meanwhile what a capture forbids
    CudaGraphFunctions::Pool pool{0, 0};  // a new one
    if (beside != nullptr)
      pool = call_.pool(&static_cast<const CudaGraph*>(beside)->memory_->bytes);
    state_ = State::captures;
    call_.begin(&memory_->bytes, pool, thread_local_mode);
  }
  void end() override {
    call_.end(&memory_->bytes);
    state_ = State::ended;
  }
  void replay() const override { call_.replay(&memory_->bytes); }

 private:
  /// Far more than a CUDAGraph takes, which is below 500 bytes.
  struct alignas(64) Memory {
    std::array<std::byte, 4096> bytes;
  };
  enum class State { empty, captures, ended };

  const CudaGraphFunctions& call_ = CudaGraphFunctions::get();
  std::unique_ptr<Memory> memory_ = std::make_unique<Memory>();
  State state_ = State::empty;
};

/// Makes an empty graph. Throws `Error` if the device has none.
[[nodiscard]] inline std::unique_ptr<DeviceGraph> make_graph(c10::Device device) {
  const c10::DeviceGuard guard{device};
  if (device.is_cuda()) return std::make_unique<CudaGraph>();
  using Make = DeviceGraph*(c10::Device);
  auto* const make = reinterpret_cast<Make*>(::dlsym(RTLD_DEFAULT, graph_maker_name));
  std::unique_ptr<DeviceGraph> graph{make != nullptr ? make(device) : nullptr};
  if (graph != nullptr) return graph;
  throw Error{"graphs are for GPUs of NVIDIA", {.object = device.str()}};
}

[[nodiscard]] inline c10::Stream stream_for_graphs(c10::Device device) {
  (void)make_graph(device);  // throws the reason if there are none
  return c10::impl::getDeviceGuardImpl(device.type())->getStreamFromGlobalPool(device);
}

/// Lets this thread's library of products begin, because a capture forbids that.
inline void begin_products(c10::Device device) {
  const at::NoGradGuard no_gradients;
  const at::Tensor some = at::ones({16, 16}, at::TensorOptions{at::kFloat}.device(device));
  static_cast<void>(at::mm(some, some));
}

}  // namespace detail

SEQTRAIN_SEPARATE GraphMaker::GraphMaker(c10::Device device)
    : device_{device}, stream_{detail::stream_for_graphs(device)} {
  try_out();
}

[[nodiscard]] SEQTRAIN_SEPARATE std::unique_ptr<const DeviceGraph> GraphMaker::capture(
    const std::function<void()>& work, const DeviceGraph* beside) const {
  auto graph = detail::make_graph(device_);
  const c10::StreamGuard guard{stream_};
  detail::begin_products(device_);
  graph->begin(beside);
  try {
    work();
  } catch (...) {
    const auto problem = std::current_exception();
    try {
      graph->end();
    } catch (const std::exception&) {
      // The problem of the work matters.
    }
    std::rethrow_exception(problem);
  }
  graph->end();
  return graph;
}

SEQTRAIN_SEPARATE void GraphMaker::try_out() const {
  const at::NoGradGuard no_gradients;
  const at::Tensor x = at::arange(1, 1'001, at::TensorOptions{at::kFloat}.device(device_));
  const auto drop = [&] { return std::get<0>(at::native_dropout(x, 0.5, true)).add(x); };
  const auto expected = [&] {
    const SeededGenerator seeded{5, device_};
    const at::Tensor first = drop();
    return first.add(drop(), 3).cpu();
  }();
  at::Tensor once;
  const auto graph = capture([&] { once = drop(); });
  const SeededGenerator seeded{5, device_};
  graph->replay();
  const at::Tensor first = once.clone();
  graph->replay();
  if (first.add(once, 3).cpu().equal(expected)) return;
  throw Error{"graphs compute wrong numbers", {.object = device_.str()}};
}

}  // namespace seqtrain::tensor
