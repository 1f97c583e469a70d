#pragma once

#include <cstdint>

#include <seqtrain/cuda/kernel_source.hpp>

namespace seqtrain::cuda {

/// A gradient of which `norm_kernel` computes the norm.
struct NormPart {
  float* step = nullptr;  ///< the parameter's number of steps, which grows if the step is taken
  std::uint32_t end = 0;  ///< the number of chunks up to the gradient's end
};

/// The argument of `norm_kernel`, which has one block of 1024 threads. The pointers are a device's,
/// and the layout is that of the kernel's text.
struct NormArguments {
  const double* sums = nullptr;  ///< of the squares of each chunk of the gradients
  const NormPart* parts = nullptr;
  const float* scale = nullptr;  ///< the loss scale, or null
  double* norms = nullptr;       ///< of each gradient, then the loss scale if any
  float* found_inf = nullptr;    ///< gets 1 if a gradient is not finite, else 0
  float* clip = nullptr;         ///< gets the factor of the gradients
  double max_norm = 0;           ///< infinite if nothing is clipped
  std::uint32_t gradients = 0;
};

/// The 2-norm of each gradient, without its loss scale, and of all of them, from the sums of their
/// chunks; whether they are finite, and then one step more of each parameter; and the factor by
/// which they are clipped. Each sum has one order.
inline constexpr KernelSource norm_kernel{"seqtrain_norm", R"(
struct NormPart {
  float* step;
  unsigned end;
};

struct NormArguments {
  const double* sums;
  const NormPart* parts;
  const float* scale;
  double* norms;
  float* found_inf;
  float* clip;
  double max_norm;
  unsigned gradients;
};

__device__ inline double norm_of(const NormArguments& a, unsigned gradient, unsigned lane) {
  double sum = 0;
  const unsigned begin = gradient == 0 ? 0 : a.parts[gradient - 1].end;
  for (unsigned i = begin + lane; i < a.parts[gradient].end; i += 32) sum += a.sums[i];
  for (unsigned step = 16; step != 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  return a.scale ? sqrt(sum) / *a.scale : sqrt(sum);
}

__device__ inline bool norm_end(const NormArguments& a, double squares) {
  const double norm = sqrt(squares);
  const bool finite = norm - norm == 0;
  *a.found_inf = finite ? 0.0f : 1.0f;
  if (a.scale) a.norms[a.gradients] = *a.scale;
  double factor = 1 / (norm + 1e-6) * a.max_norm;
  if (!(factor < 1)) factor = 1;
  *a.clip = (float)(a.scale ? factor / *a.scale : factor);
  return finite;
}

extern "C" {
__global__ void __launch_bounds__(1024) seqtrain_norm(const NormArguments a) {
  __shared__ double of_warps[32];
  __shared__ bool finite;
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  double squares = 0;
  for (unsigned i = warp; i < a.gradients; i += warps) {
    const double norm = norm_of(a, i, lane);
    if (lane == 0) a.norms[i] = norm;
    squares += norm * norm;
  }
  if (lane == 0) of_warps[warp] = squares;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned i = 1; i < warps; ++i) squares += of_warps[i];
    finite = norm_end(a, squares);
  }
  __syncthreads();
  if (!finite) return;
  for (unsigned i = threadIdx.x; i < a.gradients; i += blockDim.x) *a.parts[i].step += 1;
}
}
)"};

}  // namespace seqtrain::cuda
