// Stands in for LibTorch's libtorch_cuda.so, built with CUDA 13.0: it finds a GPU if FAKE_GPU is
// set. Its graphs print what they are asked for, and the end of a capture fails if
// FAKE_CAPTURE_FAILS is set.
#include <cstdlib>
#include <iostream>

#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/FakeGuardImpl.h>

namespace {

struct CUDAHooks : at::CUDAHooksInterface {
  explicit CUDAHooks(at::CUDAHooksArgs /*unused*/) {}
  bool hasCUDA() const override { return std::getenv("FAKE_GPU") != nullptr; }
  long versionCUDART() const override { return 13000; }
};

}  // namespace

// A type of CUDA's header.
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal };

namespace at::cuda {

// Has the functions and about the size of LibTorch's class.
struct __attribute__((visibility("default"))) CUDAGraph {
  explicit CUDAGraph(bool keep_graph);
  ~CUDAGraph();
  void capture_begin(c10::MempoolId_t pool, cudaStreamCaptureMode mode);
  void capture_end();
  void replay();
  c10::MempoolId_t pool();

  unsigned long long number;
  char more[400];
};

CUDAGraph::CUDAGraph(bool keep_graph) {
  static unsigned long long made = 0;
  number = ++made;
  std::cout << "graph " << number << (keep_graph ? " is kept\n" : "\n");
}
CUDAGraph::~CUDAGraph() {
  std::cout << "destroy " << number << '\n';
}
void CUDAGraph::capture_begin(c10::MempoolId_t pool, cudaStreamCaptureMode mode) {
  std::cout << "begin " << number << " in pool " << pool.first << " " << pool.second << " in mode "
            << mode << '\n';
}
void CUDAGraph::capture_end() {
  std::cout << "end " << number << '\n';
  TORCH_CHECK(std::getenv("FAKE_CAPTURE_FAILS") == nullptr, "the capture is invalid");
}
void CUDAGraph::replay() {
  std::cout << "replay " << number << '\n';
}
c10::MempoolId_t CUDAGraph::pool() {
  return {number, 70 + number};
}

}  // namespace at::cuda

namespace c10::impl {
C10_REGISTER_GUARD_IMPL(CUDA, FakeGuardImpl<DeviceType::CUDA>)
}  // namespace c10::impl

namespace at {
REGISTER_CUDA_HOOKS(CUDAHooks);
}  // namespace at
