#pragma once

#include <cstdint>
#include <string_view>

#include <seqtrain/cuda/kernel_source.hpp>

namespace seqtrain::cuda {

/// The types of the numbers that products read and write, as the kernels of layer normalization
/// know them.
enum class LayerNormType : std::uint32_t { fp32, fp16, bf16 };

/// Dropout in a kernel. A mask is made again from its seed and its number, so no mask is stored:
/// the random numbers are those of Philox4x32-10 (Salmon et al. 2011). Its key is the seed, and its
/// counter has the row, a fourth of the column and the mask's number.
struct LayerNormDropout {
  const std::uint64_t* seed = nullptr;  ///< on the device, or null without dropout
  std::uint32_t mask = 0;               ///< the mask's number
  std::uint32_t dropped = 0;            ///< random numbers below it, of 2^32, drop an element
  float scale = 1;                      ///< the factor of the elements that stay
};

/// The argument of `layer_norm_kernel`, which has a block of threads for each row, with a warp for
/// each 128 columns. All pointers are a device's, and the layout is that of the kernel's text.
/// Matrices are [rows, size] and contiguous.
struct LayerNormArguments {
  const void* x = nullptr;  ///< the numbers that dropout takes
  const float* residual = nullptr;
  const float* weight = nullptr;  ///< [size]
  const float* bias = nullptr;    ///< [size], or null
  float* sum = nullptr;           ///< gets residual + dropout(x), or null
  float* normal = nullptr;        ///< gets the normalized sum
  void* narrow = nullptr;         ///< gets `normal` in the type of x, or null
  float* moments = nullptr;       ///< [rows, 2]: gets the mean and 1 / √(variance + eps), or null
  LayerNormDropout dropout = {};
  std::uint32_t size = 0;
  LayerNormType type = {};  ///< of x and `narrow`
  float eps = 0;
};

/// The argument of `layer_norm_backward_kernel`, whose blocks have the threads of
/// `layer_norm_kernel`. Each block takes rows whose numbers are apart by the number of blocks.
struct LayerNormBackwardArguments {
  const float* d_normal = nullptr;    ///< the gradient of `normal`
  const float* d_residual = nullptr;  ///< added to the gradient of the sum, or null
  const float* sum = nullptr;         ///< as the forward pass has left it
  const float* moments = nullptr;     ///< as the forward pass has left them
  const float* weight = nullptr;      ///< [size]
  float* d_sum = nullptr;             ///< gets the gradient of the sum
  void* d_x = nullptr;                ///< gets the gradient of x, or null
  float* partial = nullptr;           ///< [blocks, 2, size]: gets each block's part, or null
  LayerNormDropout dropout = {};
  std::uint32_t rows = 0;
  std::uint32_t size = 0;
  LayerNormType type = {};  ///< of `d_x`
};

/// The argument of `layer_norm_gradients_kernel`, which has a block of 512 threads for each 32 of
/// the 2 · size sums.
struct LayerNormGradientsArguments {
  const float* partial = nullptr;  ///< [parts, 2, size], of the weight and of the bias
  float* d_weight = nullptr;       ///< [size]: the sums are added to it
  float* d_bias = nullptr;         ///< [size]: the sums are added to it, or null
  std::uint32_t parts = 0;
  std::uint32_t size = 0;
};

/// The text of three kernels. Sums are fp32 and have one order, so equal runs have equal bits. A
/// thread has four neighbouring columns.
inline constexpr std::string_view layer_norm_text = R"(
enum LayerNormType : unsigned { layer_norm_fp32, layer_norm_fp16, layer_norm_bf16 };

struct LayerNormDropout {
  const unsigned long long* seed;
  unsigned mask;
  unsigned dropped;
  float scale;
};

struct LayerNormArguments {
  const void* x;
  const float* residual;
  const float* weight;
  const float* bias;
  float* sum;
  float* normal;
  void* narrow;
  float* moments;
  LayerNormDropout dropout;
  unsigned size;
  LayerNormType type;
  float eps;
};

struct LayerNormBackwardArguments {
  const float* d_normal;
  const float* d_residual;
  const float* sum;
  const float* moments;
  const float* weight;
  float* d_sum;
  void* d_x;
  float* partial;
  LayerNormDropout dropout;
  unsigned rows;
  unsigned size;
  LayerNormType type;
};

struct LayerNormGradientsArguments {
  const float* partial;
  float* d_weight;
  float* d_bias;
  unsigned parts;
  unsigned size;
};

struct FourFloats {
  float of[4];
};

struct FourWords {
  unsigned of[4];
};

// The place of a thread's numbers in a matrix, and how many of the four there are.
struct FourPlaces {
  unsigned long long begin;
  unsigned count;
};

__device__ inline float float_of(unsigned bits) {
  union {
    unsigned bits;
    float number;
  } u;
  u.bits = bits;
  return u.number;
}

__device__ inline unsigned bits_of(float number) {
  union {
    float number;
    unsigned bits;
  } u;
  u.number = number;
  return u.bits;
}

__device__ inline float widened(unsigned bits, LayerNormType as) {
  if (as == layer_norm_bf16) return float_of(bits << 16);
  const unsigned sign = (bits & 0x8000) << 16, rest = (bits & 0x7fff) << 13;
  if (rest >= 0x0f800000) return float_of(sign | rest | 0x7f800000);
  return float_of(sign | bits_of(float_of(rest) * float_of(0x77800000)));  // 2^112
}

// Rounds to nearest even.
__device__ inline unsigned short narrowed(float number, LayerNormType as) {
  const unsigned bits = bits_of(number), size = bits & 0x7fffffff;
  if (as == layer_norm_bf16) {
    if (size > 0x7f800000) return 0x7fc0;
    return (unsigned short)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
  }
  unsigned rounded = (size - 0x37fff001 + ((size >> 13) & 1)) >> 13;
  if (size < 0x38800000) rounded = bits_of(float_of(size) + 0.5f) - 0x3f000000;  // subnormal
  if (size >= 0x47800000) rounded = size > 0x7f800000 ? 0x7e00 : 0x7c00;
  return (unsigned short)((bits >> 16 & 0x8000) | rounded);
}

__device__ inline FourPlaces places_of(unsigned row, unsigned size) {
  const unsigned column = 4 * threadIdx.x;
  FourPlaces places;
  places.count = column >= size ? 0 : size - column < 4 ? size - column : 4;
  places.begin = (unsigned long long)row * size + (places.count > 0 ? column : 0);
  return places;
}

// Reads four floats, with zeros in place of those that are not there.
__device__ inline FourFloats read_four(const float* matrix, FourPlaces places) {
  const float* const from = matrix + places.begin;
  FourFloats x;
  if (places.count == 4 && (unsigned long long)from % 16 == 0) {
    const float4 four = *(const float4*)from;
    x.of[0] = four.x;
    x.of[1] = four.y;
    x.of[2] = four.z;
    x.of[3] = four.w;
    return x;
  }
  for (unsigned i = 0; i < 4; ++i) x.of[i] = i < places.count ? from[i] : 0.0f;
  return x;
}

__device__ inline FourFloats read_four(const void* matrix, FourPlaces places, LayerNormType as) {
  if (as == layer_norm_fp32) return read_four((const float*)matrix, places);
  const unsigned short* const from = (const unsigned short*)matrix + places.begin;
  FourFloats x;
  if (places.count == 4 && (unsigned long long)from % 8 == 0) {
    const ushort4 four = *(const ushort4*)from;
    x.of[0] = widened(four.x, as);
    x.of[1] = widened(four.y, as);
    x.of[2] = widened(four.z, as);
    x.of[3] = widened(four.w, as);
    return x;
  }
  for (unsigned i = 0; i < 4; ++i) x.of[i] = i < places.count ? widened(from[i], as) : 0.0f;
  return x;
}

__device__ inline void write_four(float* matrix, FourPlaces places, const FourFloats& x) {
  float* const to = matrix + places.begin;
  if (places.count == 4 && (unsigned long long)to % 16 == 0) {
    *(float4*)to = make_float4(x.of[0], x.of[1], x.of[2], x.of[3]);
    return;
  }
  for (unsigned i = 0; i < 4; ++i) {
    if (i < places.count) to[i] = x.of[i];
  }
}

__device__ inline void write_four(void* matrix, FourPlaces places, const FourFloats& x,
                                  LayerNormType as) {
  if (as == layer_norm_fp32) return write_four((float*)matrix, places, x);
  unsigned short* const to = (unsigned short*)matrix + places.begin;
  if (places.count == 4 && (unsigned long long)to % 8 == 0) {
    *(ushort4*)to = make_ushort4(narrowed(x.of[0], as), narrowed(x.of[1], as),
                                 narrowed(x.of[2], as), narrowed(x.of[3], as));
    return;
  }
  for (unsigned i = 0; i < 4; ++i) {
    if (i < places.count) to[i] = narrowed(x.of[i], as);
  }
}

__device__ inline FourWords philox(FourWords counter, unsigned key0, unsigned key1) {
  for (unsigned round = 0; round < 10; ++round) {
    const unsigned long long a = 0xd2511f53ull * counter.of[0], b = 0xcd9e8d57ull * counter.of[2];
    counter.of[0] = (unsigned)(b >> 32) ^ counter.of[1] ^ key0;
    counter.of[1] = (unsigned)b;
    counter.of[2] = (unsigned)(a >> 32) ^ counter.of[3] ^ key1;
    counter.of[3] = (unsigned)a;
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return counter;
}

// Drops a thread's numbers of a row.
__device__ inline void drop(const LayerNormDropout& dropout, unsigned row, FourFloats& x) {
  if (!dropout.seed) return;
  const unsigned long long seed = *dropout.seed;
  FourWords counter;
  counter.of[0] = row;
  counter.of[1] = threadIdx.x;
  counter.of[2] = dropout.mask;
  counter.of[3] = 0;
  const FourWords random = philox(counter, (unsigned)seed, (unsigned)(seed >> 32));
  for (unsigned i = 0; i < 4; ++i) {
    x.of[i] = random.of[i] < dropout.dropped ? 0.0f : x.of[i] * dropout.scale;
  }
}

// Writes a warp's sum, which `sum_of` adds to those of the others after a barrier.
__device__ inline void put_sum(float number, float* of_warps) {
  for (unsigned step = 16; step != 0; step /= 2) {
    number += __shfl_xor_sync(0xffffffff, number, step);
  }
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = number;
}

__device__ inline float sum_of(const float* of_warps) {
  float sum = of_warps[0];
  for (unsigned warp = 1; warp < blockDim.x / 32; ++warp) sum += of_warps[warp];
  return sum;
}

extern "C" {
__global__ void __launch_bounds__(1024) seqtrain_layer_norm(const LayerNormArguments a) {
  __shared__ float sums[32], squares[32];
  const unsigned row = blockIdx.x;
  const FourPlaces places = places_of(row, a.size), columns = places_of(0, a.size);
  FourFloats x = read_four(a.x, places, a.type);
  const FourFloats residual = read_four(a.residual, places);
  drop(a.dropout, row, x);
  for (unsigned i = 0; i < 4; ++i) x.of[i] += residual.of[i];
  if (a.sum) write_four(a.sum, places, x);
  put_sum(x.of[0] + x.of[1] + x.of[2] + x.of[3], sums);
  __syncthreads();
  const float mean = sum_of(sums) / (float)a.size;
  float square = 0.0f;
  for (unsigned i = 0; i < 4; ++i) {
    x.of[i] -= mean;
    if (i < places.count) square += x.of[i] * x.of[i];
  }
  put_sum(square, squares);
  __syncthreads();
  const float factor = 1.0f / sqrtf(sum_of(squares) / (float)a.size + a.eps);
  if (a.moments && threadIdx.x == 0) {
    a.moments[2 * row] = mean;
    a.moments[2 * row + 1] = factor;
  }
  const FourFloats weight = read_four(a.weight, columns);
  for (unsigned i = 0; i < 4; ++i) x.of[i] = x.of[i] * factor * weight.of[i];
  if (a.bias) {
    const FourFloats bias = read_four(a.bias, columns);
    for (unsigned i = 0; i < 4; ++i) x.of[i] += bias.of[i];
  }
  write_four(a.normal, places, x);
  if (a.narrow) write_four(a.narrow, places, x, a.type);
}

__global__ void __launch_bounds__(1024)
    seqtrain_layer_norm_backward(const LayerNormBackwardArguments a) {
  __shared__ float sums[2][32], products[2][32];  // of rows in turns
  const FourPlaces columns = places_of(0, a.size);
  const FourFloats weight = read_four(a.weight, columns);
  FourFloats d_weight = {}, d_bias = {};
  unsigned turn = 0;
  for (unsigned row = blockIdx.x; row < a.rows; row += gridDim.x, turn ^= 1) {
    const FourPlaces places = places_of(row, a.size);
    const FourFloats d_normal = read_four(a.d_normal, places);
    FourFloats x = read_four(a.sum, places), d = {};
    const float mean = a.moments[2 * row], factor = a.moments[2 * row + 1];
    float sum = 0.0f, product = 0.0f;
    for (unsigned i = 0; i < 4; ++i) {
      x.of[i] = (x.of[i] - mean) * factor;
      d.of[i] = d_normal.of[i] * weight.of[i];
      sum += d.of[i];
      product += d.of[i] * x.of[i];
      d_weight.of[i] += d_normal.of[i] * x.of[i];
      d_bias.of[i] += d_normal.of[i];
    }
    put_sum(sum, sums[turn]);
    put_sum(product, products[turn]);
    __syncthreads();
    sum = sum_of(sums[turn]) / (float)a.size;
    product = sum_of(products[turn]) / (float)a.size;
    for (unsigned i = 0; i < 4; ++i) d.of[i] = (d.of[i] - sum - x.of[i] * product) * factor;
    if (a.d_residual) {
      const FourFloats more = read_four(a.d_residual, places);
      for (unsigned i = 0; i < 4; ++i) d.of[i] += more.of[i];
    }
    write_four(a.d_sum, places, d);
    if (!a.d_x) continue;
    drop(a.dropout, row, d);
    write_four(a.d_x, places, d, a.type);
  }
  if (!a.partial) return;
  float* const partial = a.partial + (unsigned long long)blockIdx.x * 2 * a.size;
  write_four(partial, columns, d_weight);
  write_four(partial + a.size, columns, d_bias);
}

__global__ void __launch_bounds__(512)
    seqtrain_layer_norm_gradients(const LayerNormGradientsArguments a) {
  __shared__ float of_warps[16][32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  const unsigned column = 32 * blockIdx.x + lane, columns = 2 * a.size;
  float sum = 0.0f;
  if (column < columns) {
    for (unsigned part = warp; part < a.parts; part += warps) {
      sum += a.partial[(unsigned long long)part * columns + column];
    }
  }
  of_warps[warp][lane] = sum;
  __syncthreads();
  if (warp != 0 || column >= columns) return;
  for (unsigned i = 1; i < warps; ++i) sum += of_warps[i][lane];
  if (column < a.size) {
    a.d_weight[column] += sum;
  } else if (a.d_bias) {
    a.d_bias[column - a.size] += sum;
  }
}
}
)";

/// Computes dropout, the sum with the residual and its layer normalization (Ba et al. 2016).
inline constexpr KernelSource layer_norm_kernel{"seqtrain_layer_norm", layer_norm_text};

/// Computes the backward pass of `layer_norm_kernel`, with parts of the gradients of weight and
/// bias.
inline constexpr KernelSource layer_norm_backward_kernel{"seqtrain_layer_norm_backward",
                                                         layer_norm_text};

/// Adds the parts of the gradients of weight and bias to these gradients.
inline constexpr KernelSource layer_norm_gradients_kernel{"seqtrain_layer_norm_gradients",
                                                          layer_norm_text};

}  // namespace seqtrain::cuda
