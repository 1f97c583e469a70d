#pragma once

#include <cstdint>

#include <seqtrain/cuda/kernel_source.hpp>

namespace seqtrain::cuda {

/// Up to `count` numbers of a parameter, which one block of threads updates. The pointers are a
/// device's, and the layout is that of `adam_kernel`'s text.
struct AdamChunk {
  float* value = nullptr;
  float* gradient = nullptr;
  float* exp_avg = nullptr;
  float* exp_avg_sq = nullptr;
  std::uint16_t* copy = nullptr;  ///< the value in bfloat16, or null
  const float* step = nullptr;    ///< the parameter's number of steps with this one
  std::uint32_t count = 0;
  std::uint32_t group = 0;  ///< the number of its group in `AdamArguments`

  friend bool operator==(const AdamChunk&, const AdamChunk&) = default;
};

/// The options of a step that the parameters of a group share.
struct AdamGroup {
  double lr = 0;
  double beta1 = 0;
  double weight_decay = 0;
};

/// The argument of `adam_kernel`, which has a block of threads for each chunk.
struct AdamArguments {
  static constexpr std::uint32_t most_groups = 128;  // an argument has at most 4 KiB

  const AdamChunk* chunks = nullptr;
  const float* clip = nullptr;       ///< the factor of the gradients, or null for 1
  const float* found_inf = nullptr;  ///< 1 if a gradient is not finite: nothing is updated
  double beta2 = 0;
  double eps = 0;
  std::uint32_t decoupled = 0;  ///< 1 for AdamW
  AdamGroup groups[most_groups] = {};
};

/// A step of Adam or AdamW over all parameters. With the operations, and the order of operations,
/// of torch's fused update on a processor: the gradient times the factor that clips it, weight
/// decay, both moments, the value. It then sets the gradients to zero and writes the bfloat16
/// copies, rounded to nearest even. Sums and products are not fused but where the text says so, so
/// a GPU and a processor compute the same bits. beta^t comes from multiplications, because pow
/// differs between libraries.
inline constexpr KernelSource adam_kernel{"seqtrain_adam", R"(
struct AdamChunk {
  float* value;
  float* gradient;
  float* exp_avg;
  float* exp_avg_sq;
  unsigned short* copy;
  const float* step;
  unsigned count;
  unsigned group;
};

struct AdamGroup {
  double lr;
  double beta1;
  double weight_decay;
};

struct AdamArguments {
  const AdamChunk* chunks;
  const float* clip;
  const float* found_inf;
  double beta2;
  double eps;
  unsigned decoupled;
  AdamGroup groups[128];
};

struct AdamFactors {
  float gradient, added_value, kept_value, new_part1, beta2, new_part2, minus_step, root, eps;
};

__device__ inline double adam_power(double base, unsigned exponent) {
  double result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return result;
}

__device__ inline AdamFactors adam_factors(const AdamArguments& a, const AdamGroup& group,
                                           unsigned step) {
  AdamFactors f;
  const bool decoupled = a.decoupled != 0;
  f.gradient = a.clip ? *a.clip : 1.0f;
  f.added_value = decoupled ? 0.0f : (float)group.weight_decay;
  f.kept_value = decoupled ? (float)(1 - group.lr * group.weight_decay) : 1.0f;
  f.new_part1 = (float)(1 - group.beta1);
  f.beta2 = (float)a.beta2;
  f.new_part2 = (float)(1 - a.beta2);
  f.minus_step = (float)-(group.lr / (1 - adam_power(group.beta1, step)));
  f.root = (float)sqrt(1 - adam_power(a.beta2, step));
  f.eps = (float)a.eps;
  return f;
}

__device__ inline void adam_number(const AdamFactors& f, float gradient, float& value, float& m,
                                   float& v) {
  float g = gradient * f.gradient;
  if (f.added_value != 0.0f) g += value * f.added_value;
  value *= f.kept_value;
  m = f.new_part1 < 0.5f ? fmaf(f.new_part1, g - m, m) : fmaf(f.new_part1 - 1.0f, g - m, g);
  v = fmaf(f.new_part2 * g, g, v * f.beta2);
  value += f.minus_step * m / (sqrtf(v) / f.root + f.eps);
}

__device__ inline unsigned short adam_bfloat16(float value) {
  union {
    float number;
    unsigned bits;
  } u;
  u.number = value;
  if ((u.bits & 0x7fffffff) > 0x7f800000) return 0x7fc0;
  return (unsigned short)((u.bits + 0x7fff + ((u.bits >> 16) & 1)) >> 16);
}

__device__ inline bool adam_aligned(const AdamChunk& c) {
  const unsigned long long fours = (unsigned long long)c.value | (unsigned long long)c.gradient |
      (unsigned long long)c.exp_avg | (unsigned long long)c.exp_avg_sq;
  return fours % 16 == 0 && (unsigned long long)c.copy % 8 == 0;
}

__device__ inline void adam_four(const AdamFactors& f, const AdamChunk& c, unsigned i) {
  const float4 gradient = *(const float4*)(c.gradient + i);
  float4 value = *(const float4*)(c.value + i);
  float4 m = *(const float4*)(c.exp_avg + i);
  float4 v = *(const float4*)(c.exp_avg_sq + i);
  adam_number(f, gradient.x, value.x, m.x, v.x);
  adam_number(f, gradient.y, value.y, m.y, v.y);
  adam_number(f, gradient.z, value.z, m.z, v.z);
  adam_number(f, gradient.w, value.w, m.w, v.w);
  *(float4*)(c.value + i) = value;
  *(float4*)(c.exp_avg + i) = m;
  *(float4*)(c.exp_avg_sq + i) = v;
  *(float4*)(c.gradient + i) = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (c.copy) {
    *(ushort4*)(c.copy + i) = make_ushort4(adam_bfloat16(value.x), adam_bfloat16(value.y),
                                           adam_bfloat16(value.z), adam_bfloat16(value.w));
  }
}

__device__ inline void adam_one(const AdamFactors& f, const AdamChunk& c, unsigned i) {
  float value = c.value[i], m = c.exp_avg[i], v = c.exp_avg_sq[i];
  adam_number(f, c.gradient[i], value, m, v);
  c.value[i] = value;
  c.exp_avg[i] = m;
  c.exp_avg_sq[i] = v;
  c.gradient[i] = 0.0f;
  if (c.copy) c.copy[i] = adam_bfloat16(value);
}

extern "C" {
__global__ void __launch_bounds__(256) seqtrain_adam(const AdamArguments a) {
  __shared__ AdamFactors shared;
  const AdamChunk c = a.chunks[blockIdx.x];
  if (*a.found_inf != 0.0f) {
    for (unsigned i = threadIdx.x; i < c.count; i += blockDim.x) {
      c.gradient[i] = 0.0f;
      if (c.copy) c.copy[i] = adam_bfloat16(c.value[i]);
    }
    return;
  }
  if (threadIdx.x == 0) shared = adam_factors(a, a.groups[c.group], (unsigned)*c.step);
  __syncthreads();
  const AdamFactors f = shared;
  const unsigned fours = adam_aligned(c) ? c.count / 4 : 0;
  for (unsigned i = threadIdx.x; i < fours; i += blockDim.x) adam_four(f, c, 4 * i);
  for (unsigned i = 4 * fours + threadIdx.x; i < c.count; i += blockDim.x) adam_one(f, c, i);
}
}
)"};

}  // namespace seqtrain::cuda
