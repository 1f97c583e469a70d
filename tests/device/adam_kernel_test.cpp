#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <seqtrain/cuda/adam_kernel.hpp>
#include <seqtrain/tensor/finite.hpp>

#include "support/run_kernel.hpp"  // the last one: it defines names of CUDA

namespace seqtrain::tests::adam_kernel {
namespace {

#include "kernels/adam_kernel.cu"

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// The tensors of a parameter, with a few numbers around each that nothing may touch.
struct State {
  static constexpr std::int64_t guard = 8;

  at::Tensor value, gradient, m, v;
  std::vector<std::uint16_t> copy;
  float step = 1;

  // `shift` makes the first number unaligned.
  explicit State(std::int64_t count, std::int64_t shift = 0)
      : value{numbers(count, shift)},
        gradient{numbers(count, shift)},
        m{numbers(count, shift).mul_(0.1)},
        v{numbers(count, shift).square_().mul_(0.01)},
        copy(static_cast<std::size_t>(count + 2 * guard), 0xabcd) {}

  [[nodiscard]] State clone() const {
    State other = *this;
    for (at::Tensor* tensor : {&other.value, &other.gradient, &other.m, &other.v}) {
      *tensor = tensor->clone();
    }
    return other;
  }

 private:
  static at::Tensor numbers(std::int64_t count, std::int64_t shift) {
    return at::randn({count + shift}).narrow(0, shift, count);
  }
};

struct Options {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0.01;
  bool decoupled = true;
  float clip = 0.75F;
};

AdamChunk chunk_of(State& state, unsigned begin, unsigned count, bool copies) {
  const auto at = [begin](const at::Tensor& tensor) {
    return tensor.mutable_data_ptr<float>() + begin;
  };
  return {at(state.value),
          at(state.gradient),
          at(state.m),
          at(state.v),
          copies ? state.copy.data() + State::guard + begin : nullptr,
          &state.step,
          count,
          0};
}

void run(State& state, const Options& options, float found_inf = 0, bool copies = true,
         unsigned size = 32, unsigned threads = 32, Turns turns = Turns::forwards) {
  std::vector<AdamChunk> chunks;
  const auto count = static_cast<unsigned>(state.value.numel());
  for (unsigned begin = 0; begin < count; begin += size) {
    chunks.push_back(chunk_of(state, begin, std::min(size, count - begin), copies));
  }
  AdamArguments arguments{};
  arguments.chunks = chunks.data();
  arguments.clip = &options.clip;
  arguments.found_inf = &found_inf;
  arguments.beta2 = options.beta2;
  arguments.eps = options.eps;
  arguments.decoupled = options.decoupled ? 1 : 0;
  arguments.groups[0] = {options.lr, options.beta1, options.weight_decay};
  run_grid(&seqtrain_adam, static_cast<unsigned>(chunks.size()), threads, arguments, turns);
}

// The same step by LibTorch's operators.
void run_operators(State& state, const Options& options) {
  state.gradient.mul_(options.clip);
  const auto update = [&](const auto& fused) {
    fused({state.value}, {state.gradient}, {state.m}, {state.v}, at::TensorList{},
          {at::full({}, state.step)}, options.lr, options.beta1, options.beta2,
          options.weight_decay, options.eps, false, false, std::nullopt, std::nullopt);
  };
  using List = at::TensorList;
  if (options.decoupled) {
    update([](List a, List b, List c, List d, List e, List f, const auto&... rest) {
      at::_fused_adamw_(a, b, c, d, e, f, rest...);
    });
  } else {
    update([](List a, List b, List c, List d, List e, List f, const auto&... rest) {
      at::_fused_adam_(a, b, c, d, e, f, rest...);
    });
  }
}

// Returns the largest difference, relative to the size of a number that is above 1.
double apart(const at::Tensor& a, const at::Tensor& b) {
  return a.sub(b).abs().div(b.abs().clamp_min(1)).max().item<double>();
}

bool has_equal_bits(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor x = a.contiguous(), y = b.contiguous();
  return x.sizes() == y.sizes() &&
         std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}

void expect_bits(const State& a, const State& b) {
  EXPECT_TRUE(has_equal_bits(a.value, b.value));
  EXPECT_TRUE(has_equal_bits(a.m, b.m));
  EXPECT_TRUE(has_equal_bits(a.v, b.v));
  EXPECT_TRUE(has_equal_bits(a.gradient, b.gradient));
  EXPECT_EQ(a.copy, b.copy);
}

TEST(AdamKernel, HasTheLayoutOfItsArguments) {
  EXPECT_EQ(sizeof(AdamChunk), sizeof(cuda::AdamChunk));
  EXPECT_EQ(offsetof(AdamChunk, copy), offsetof(cuda::AdamChunk, copy));
  EXPECT_EQ(offsetof(AdamChunk, step), offsetof(cuda::AdamChunk, step));
  EXPECT_EQ(offsetof(AdamChunk, group), offsetof(cuda::AdamChunk, group));
  EXPECT_EQ(sizeof(AdamArguments), sizeof(cuda::AdamArguments));
  EXPECT_EQ(offsetof(AdamArguments, found_inf), offsetof(cuda::AdamArguments, found_inf));
  EXPECT_EQ(offsetof(AdamArguments, eps), offsetof(cuda::AdamArguments, eps));
  EXPECT_EQ(offsetof(AdamArguments, decoupled), offsetof(cuda::AdamArguments, decoupled));
  EXPECT_EQ(offsetof(AdamArguments, groups), offsetof(cuda::AdamArguments, groups));
  EXPECT_EQ(sizeof(AdamGroup), sizeof(cuda::AdamGroup));
  EXPECT_LE(sizeof(AdamArguments), 4096U);
}

TEST(AdamKernel, EqualsTorchsOperators) {
  double values = 0, moments = 0;
  for (std::int64_t count = 1; count <= 70; ++count) {
    for (const bool decoupled : {true, false}) {
      for (const std::int64_t shift : {0, 1}) {
        State own{count, shift};
        own.step = static_cast<float>(count * count);
        State other = own.clone();
        const Options options{.decoupled = decoupled};
        run(own, options);
        run_operators(other, options);
        values = std::max(values, apart(own.value, other.value));
        moments = std::max({moments, apart(own.m, other.m), apart(own.v, other.v)});
        EXPECT_EQ(own.gradient.count_nonzero().item<std::int64_t>(), 0);
      }
    }
  }
  EXPECT_LT(values, 1.3e-7);
  EXPECT_LT(moments, 1.3e-7);
}

TEST(AdamKernel, HasTheBitsOfTorchsVectors) {
  for (const double beta1 : {0.9, 0.3}) {  // the mean is computed from its nearer end
    for (const double weight_decay : {0.0, 0.1}) {
      for (const bool decoupled : {true, false}) {
        if (!decoupled && weight_decay != 0) continue;  // which torch's compiler fuses with a sum
        State own{16 * 1024};
        State other = own.clone();
        const Options options{.beta1 = beta1, .weight_decay = weight_decay, .decoupled = decoupled};
        for (own.step = other.step = 1; own.step < 20; ++own.step, ++other.step) {
          own.gradient.normal_();
          other.gradient.copy_(own.gradient);
          run(own, options, 0, true, 8192, 256);
          run_operators(other, options);
          ASSERT_TRUE(has_equal_bits(own.m, other.m)) << own.step;
          ASSERT_TRUE(has_equal_bits(own.v, other.v)) << own.step;
          ASSERT_TRUE(has_equal_bits(own.value, other.value)) << own.step;
        }
      }
    }
  }
}

TEST(AdamKernel, WritesCopiesAsTorchCasts) {
  State state{70};
  auto* const value = state.value.mutable_data_ptr<float>();
  state.gradient.zero_();
  const std::array<float, 8> edges{nan, inf, -inf, 0.0F, -0.0F, 3.4e38F, 1.01171875F, 1.00390625F};
  std::copy(edges.begin(), edges.end(), value);
  run(state, {.lr = 0}, 0);
  const at::Tensor expected = state.value.to(at::kBFloat16);
  const auto* const bits = static_cast<const std::uint16_t*>(expected.const_data_ptr());
  EXPECT_EQ(state.copy[State::guard], 0x7fc0);
  for (std::size_t i = 1; i < 70; ++i) EXPECT_EQ(state.copy[State::guard + i], bits[i]) << i;
  for (std::size_t i = 0; i < static_cast<std::size_t>(State::guard); ++i) {
    EXPECT_EQ(state.copy[i], 0xabcd);
    EXPECT_EQ(state.copy[State::guard + 70 + i], 0xabcd);
  }
}

TEST(AdamKernel, LeavesAllButGradientsWhereOneIsNotFinite) {
  for (const float bad : {nan, inf}) {
    for (const std::int64_t count : {1, 33, 70}) {
      State state{count};
      state.gradient[0] = bad;
      const State before = state.clone();
      run(state, {}, 1);
      EXPECT_TRUE(has_equal_bits(state.value, before.value));
      EXPECT_TRUE(has_equal_bits(state.m, before.m));
      EXPECT_TRUE(has_equal_bits(state.v, before.v));
      EXPECT_EQ(state.gradient.count_nonzero().item<std::int64_t>(), 0);
      const at::Tensor copy = before.value.to(at::kBFloat16);
      const auto* const bits = static_cast<const std::uint16_t*>(copy.const_data_ptr());
      for (std::int64_t i = 0; i < count; ++i) {
        EXPECT_EQ(state.copy[static_cast<std::size_t>(State::guard + i)], bits[i]);
      }
    }
  }
}

TEST(AdamKernel, GivesEqualBitsForEachSplitOrderAndAlignment) {
  for (const std::int64_t count : {1, 31, 32, 33, 64, 70, 1000}) {
    const State start{count};
    State first = start.clone();
    run(first, {});
    for (const unsigned size : {32U, 64U, 8192U}) {
      for (const unsigned threads : {32U, 256U}) {
        for (const Turns turns : {Turns::forwards, Turns::backwards}) {
          State again = start.clone();
          run(again, {}, 0, true, size, threads, turns);
          expect_bits(again, first);
        }
      }
    }
    State shifted{count, 1};
    for (const auto& [to, from] : {std::pair{&shifted.value, &start.value},
                                   {&shifted.gradient, &start.gradient},
                                   {&shifted.m, &start.m},
                                   {&shifted.v, &start.v}}) {
      to->copy_(*from);
    }
    run(shifted, {});
    expect_bits(shifted, first);
  }
}

void waits_if_first(int) {
  if (threadIdx.x == 0) __syncthreads();
}

void adds_neighbour(int* sums) {
  __shared__ int numbers[8];
  numbers[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  sums[8 * blockIdx.x + threadIdx.x] = numbers[threadIdx.x] + numbers[(threadIdx.x + 1) % 8];
}

TEST(RunGrid, LetsAllThreadsReachABarrier) {
  std::array<int, 16> sums{};
  run_grid(&adds_neighbour, 2, 8, sums.data());
  EXPECT_EQ(sums, (std::array{1, 3, 5, 7, 9, 11, 13, 7, 1, 3, 5, 7, 9, 11, 13, 7}));
}

TEST(RunGrid, FindsABarrierThatSomeThreadsDoNotReach) {
  try {
    run_grid(&waits_if_first, 1, 8, 0);
    FAIL();
  } catch (const std::logic_error& error) {
    EXPECT_STREQ(error.what(), "block 0: 1 of 8 threads wait for others that do not come");
  }
}

}  // namespace
}  // namespace seqtrain::tests::adam_kernel
