// Stands in for LibTorch's libtorch_cuda.so, built with CUDA 13.0: it finds a GPU if FAKE_GPU is
// set.
#include <cstdlib>

#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/FakeGuardImpl.h>

namespace {

struct CUDAHooks : at::CUDAHooksInterface {
  explicit CUDAHooks(at::CUDAHooksArgs /*unused*/) {}
  bool hasCUDA() const override { return std::getenv("FAKE_GPU") != nullptr; }
  long versionCUDART() const override { return 13000; }
};

}  // namespace

namespace c10::impl {
C10_REGISTER_GUARD_IMPL(CUDA, FakeGuardImpl<DeviceType::CUDA>)
}  // namespace c10::impl

namespace at {
REGISTER_CUDA_HOOKS(CUDAHooks);
}  // namespace at
