#pragma once

#include <cstdint>

#include <seqtrain/cuda/kernel_source.hpp>

namespace seqtrain::cuda {

/// Up to `count` numbers of a gradient, which one block of threads reads. The layout is that of
/// `squares_kernel`'s text.
struct SquaresChunk {
  const float* numbers = nullptr;
  std::uint32_t count = 0;
};

/// The argument of `squares_kernel`, which has a block of 256 threads for each chunk.
struct SquaresArguments {
  const SquaresChunk* chunks = nullptr;
  double* sums = nullptr;  ///< of each chunk
};

/// The sum of the squares of each chunk, in fp64, because the squares of finite floats may be
/// beyond fp32. The order of the sums depends on the count alone.
inline constexpr KernelSource squares_kernel{"seqtrain_squares", R"(
struct SquaresChunk {
  const float* numbers;
  unsigned count;
};

struct SquaresArguments {
  const SquaresChunk* chunks;
  double* sums;
};

__device__ inline double squares_of(double sum, float number) {
  return sum + (double)number * (double)number;
}

extern "C" {
__global__ void __launch_bounds__(256) seqtrain_squares(const SquaresArguments a) {
  __shared__ double of_warps[8];
  const SquaresChunk c = a.chunks[blockIdx.x];
  const bool aligned = (unsigned long long)c.numbers % 16 == 0;
  const unsigned fours = c.count / 4;
  double sum = 0;
  for (unsigned i = threadIdx.x; i < fours; i += blockDim.x) {
    const float* const from = c.numbers + 4 * i;
    const float4 four =
        aligned ? *(const float4*)from : make_float4(from[0], from[1], from[2], from[3]);
    sum = squares_of(squares_of(squares_of(squares_of(sum, four.x), four.y), four.z), four.w);
  }
  if (threadIdx.x < c.count % 4) sum = squares_of(sum, c.numbers[4 * fours + threadIdx.x]);
  for (unsigned step = 16; step != 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned warp = 1; warp < blockDim.x / 32; ++warp) sum += of_warps[warp];
  a.sums[blockIdx.x] = sum;
}
}
)"};

}  // namespace seqtrain::cuda
