#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/native_layer_norm_backward.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <seqtrain/cuda/layer_norm_kernel.hpp>

#include "support/run_kernel.hpp"  // the last one: it defines names of CUDA

namespace seqtrain::tests::layer_norm_kernel {
namespace {

#include "kernels/layer_norm_kernel.cu"

constexpr std::array types{at::kFloat, at::kHalf, at::kBFloat16};

LayerNormType type_of(at::ScalarType type) {
  if (type == at::kHalf) return layer_norm_fp16;
  return type == at::kFloat ? layer_norm_fp32 : layer_norm_bf16;
}

/// Returns the distance between 1 and the next number of a type.
double epsilon_of(at::ScalarType type) {
  if (type == at::kHalf) return 0x1p-10;
  return type == at::kFloat ? 0x1p-23 : 0x1p-7;
}

float* data(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.mutable_data_ptr<float>() : nullptr;
}

/// The tensors of both passes. Those that a pass writes begin as NaN.
struct Case {
  Case(std::int64_t rows, std::int64_t size, at::ScalarType type_of_x)
      : type{type_of_x},
        x{at::randn({rows, size}).to(type)},
        residual{at::randn({rows, size}).add(0.5)},
        weight{at::randn({size})},
        bias{at::randn({size})},
        d_normal{at::randn({rows, size})},
        sum{empty(rows, size)},
        normal{empty(rows, size)},
        moments{empty(rows, 2)},
        d_sum{empty(rows, size)},
        narrow{empty(rows, size).to(type)},
        d_x{empty(rows, size).to(type)},
        d_weight{at::ones({size})},
        d_bias{at::ones({size})} {}

  static at::Tensor empty(std::int64_t rows, std::int64_t size) {
    return at::full({rows, size}, std::numeric_limits<double>::quiet_NaN());
  }

  [[nodiscard]] unsigned rows() const { return static_cast<unsigned>(x.size(0)); }
  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(x.size(1)); }
  [[nodiscard]] unsigned threads() const { return (size() + 127) / 128 * 32; }

  [[nodiscard]] LayerNormDropout dropout() const {
    if (rate == 0) return {nullptr, 0, 0, 1};
    return {&seed, mask, static_cast<unsigned>(std::ldexp(rate, 32)),
            static_cast<float>(1 / (1 - rate))};
  }

  void forward(Turns turns = Turns::forwards) {
    const LayerNormArguments arguments{x.const_data_ptr(),
                                       data(residual),
                                       data(weight),
                                       data(bias),
                                       data(sum),
                                       data(normal),
                                       narrow.defined() ? narrow.mutable_data_ptr() : nullptr,
                                       data(moments),
                                       dropout(),
                                       size(),
                                       type_of(type),
                                       eps};
    run_grid(&seqtrain_layer_norm, rows(), threads(), arguments, turns);
  }

  void backward(unsigned blocks, Turns turns = Turns::forwards) {
    const at::Tensor partial = empty(blocks, 2 * x.size(1));
    const LayerNormBackwardArguments arguments{data(d_normal),
                                               data(d_residual),
                                               data(sum),
                                               data(moments),
                                               data(weight),
                                               data(d_sum),
                                               d_x.defined() ? d_x.mutable_data_ptr() : nullptr,
                                               data(partial),
                                               dropout(),
                                               rows(),
                                               size(),
                                               type_of(type)};
    run_grid(&seqtrain_layer_norm_backward, blocks, threads(), arguments, turns);
    const LayerNormGradientsArguments gradients{data(partial), data(d_weight), data(d_bias), blocks,
                                                size()};
    run_grid(&seqtrain_layer_norm_gradients, (2 * size() + 31) / 32, 512, gradients, turns);
  }

  at::ScalarType type;
  at::Tensor x, residual, weight, bias, d_normal, sum, normal, moments, d_sum;
  at::Tensor narrow, d_x, d_weight, d_bias;
  at::Tensor d_residual = {};
  double rate = 0;
  unsigned long long seed = 0x0123'4567'89ab'cdef;
  unsigned mask = 0;
  float eps = 1e-5F;
};

/// Returns the largest difference, relative to the size of a number that is above 1.
double apart(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor x = a.to(at::kDouble), y = b.to(at::kDouble);
  const auto most = x.sub(y).abs().div(y.abs().clamp_min(1)).max().item<double>();
  return std::isnan(most) ? std::numeric_limits<double>::infinity() : most;
}

bool have_equal_bits(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() &&
         std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0;
}

void expect_equal_bits(const Case& a, const Case& b) {
  for (const auto member : {&Case::sum, &Case::normal, &Case::moments, &Case::narrow, &Case::d_sum,
                            &Case::d_x, &Case::d_weight, &Case::d_bias}) {
    EXPECT_TRUE(have_equal_bits(a.*member, b.*member));
  }
}

TEST(LayerNormKernel, HasTheLayoutOfItsArguments) {
  EXPECT_EQ(sizeof(LayerNormDropout), sizeof(cuda::LayerNormDropout));
  EXPECT_EQ(offsetof(LayerNormDropout, dropped), offsetof(cuda::LayerNormDropout, dropped));
  EXPECT_EQ(offsetof(LayerNormDropout, scale), offsetof(cuda::LayerNormDropout, scale));
  EXPECT_EQ(sizeof(LayerNormArguments), sizeof(cuda::LayerNormArguments));
  EXPECT_EQ(offsetof(LayerNormArguments, narrow), offsetof(cuda::LayerNormArguments, narrow));
  EXPECT_EQ(offsetof(LayerNormArguments, dropout), offsetof(cuda::LayerNormArguments, dropout));
  EXPECT_EQ(offsetof(LayerNormArguments, eps), offsetof(cuda::LayerNormArguments, eps));
  EXPECT_EQ(sizeof(LayerNormBackwardArguments), sizeof(cuda::LayerNormBackwardArguments));
  EXPECT_EQ(offsetof(LayerNormBackwardArguments, partial),
            offsetof(cuda::LayerNormBackwardArguments, partial));
  EXPECT_EQ(offsetof(LayerNormBackwardArguments, type),
            offsetof(cuda::LayerNormBackwardArguments, type));
  EXPECT_EQ(sizeof(LayerNormGradientsArguments), sizeof(cuda::LayerNormGradientsArguments));
  EXPECT_EQ(offsetof(LayerNormGradientsArguments, parts),
            offsetof(cuda::LayerNormGradientsArguments, parts));
  for (const auto type : types) {
    const auto number = type_of(type);
    EXPECT_EQ(number, type == at::kFloat  ? unsigned(cuda::LayerNormType::fp32)
                      : type == at::kHalf ? unsigned(cuda::LayerNormType::fp16)
                                          : unsigned(cuda::LayerNormType::bf16));
  }
}

// The answers are those of Random123, the authors' library (kat_vectors).
TEST(LayerNormKernel, DrawsTheNumbersOfPhilox) {
  const auto expect = [](const FourWords& counter, unsigned key0, unsigned key1,
                         const std::array<unsigned, 4>& expected) {
    const FourWords drawn = philox(counter, key0, key1);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(drawn.of[i], expected[i]) << i;
  };
  expect({{0, 0, 0, 0}}, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  expect({{~0U, ~0U, ~0U, ~0U}}, ~0U, ~0U, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  expect({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0,
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(LayerNormKernel, CastsAsTorchDoes) {
  for (const auto type : {at::kHalf, at::kBFloat16}) {
    const at::Tensor all = at::arange(1 << 16, at::kInt).to(at::kShort);
    const at::Tensor wide = all.view(type).to(at::kFloat);
    const auto* const numbers = wide.const_data_ptr<float>();
    for (unsigned bits = 0; bits < 1U << 16; ++bits) {
      const float number = widened(bits, type_of(type));
      if (std::isnan(numbers[bits])) {
        EXPECT_TRUE(std::isnan(number)) << bits;
      } else {
        ASSERT_EQ(bits_of(number), bits_of(numbers[bits])) << bits;
        ASSERT_EQ(narrowed(number, type_of(type)), bits);
      }
    }
    // Floats of all sizes, and those around the middle of two numbers of the type.
    const at::Tensor middle = wide.add(wide.roll(-1)).div(2);
    const at::Tensor floats = at::cat({at::randn({50'000}).mul(at::randn({50'000}).mul(30).exp2()),
                                       middle, middle.mul(1 + 0x1p-23), middle.mul(1 - 0x1p-23)});
    const at::Tensor narrow = floats.to(type).view(at::kShort);
    for (std::int64_t i = 0; i < floats.numel(); ++i) {
      const float number = floats.const_data_ptr<float>()[i];
      if (std::isnan(number)) continue;
      const auto expected = static_cast<std::uint16_t>(narrow.const_data_ptr<std::int16_t>()[i]);
      ASSERT_EQ(narrowed(number, type_of(type)), expected) << number;
    }
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(widened(narrowed(nan, type_of(type)), type_of(type))));
  }
}

void expect_torchs_numbers(Case own, bool has_bias) {
  if (!has_bias) own.bias = own.d_bias = at::Tensor{};
  const auto bias = has_bias ? std::optional{own.bias} : std::nullopt;
  const at::IntArrayRef shape = own.weight.sizes();
  const at::Tensor sum = own.residual.add(own.x);
  const auto [normal, mean, rstd] =
      at::native_layer_norm(sum, shape, own.weight, bias, double(own.eps));
  own.forward();
  EXPECT_TRUE(have_equal_bits(own.sum, sum));
  EXPECT_LT(apart(own.normal, normal), 1e-6);
  EXPECT_LT(apart(own.moments.select(1, 0), mean.flatten()), 1e-6);
  EXPECT_LT(apart(own.moments.select(1, 1), rstd.flatten()), 1e-6);
  const double ulp = epsilon_of(own.type);
  EXPECT_LE(apart(own.narrow, normal.to(own.type)), std::max(1e-6, ulp));

  const auto [d_sum, d_weight, d_bias] = at::native_layer_norm_backward(
      own.d_normal, sum, shape, mean, rstd, own.weight, bias, {true, true, has_bias});
  own.backward(std::min(own.rows(), 7U));
  const at::Tensor d = own.d_residual.defined() ? d_sum.add(own.d_residual) : d_sum;
  EXPECT_LT(apart(own.d_sum, d), 3e-6);
  EXPECT_LE(apart(own.d_x, d.to(own.type)), std::max(3e-6, ulp));
  const double longest = 1e-6 * std::sqrt(own.rows());
  EXPECT_LT(apart(own.d_weight.sub(1), d_weight), longest);
  if (has_bias) {
    EXPECT_LT(apart(own.d_bias.sub(1), d_bias), longest);
  }
}

TEST(LayerNormKernel, EqualsTorchsOperators) {
  for (const auto type : types) {
    for (const std::int64_t size :
         {8, 9, 31, 32, 64, 100, 127, 129, 130, 384, 513, 768, 1023, 1024}) {
      for (const std::int64_t rows : {1, 10}) {
        SCOPED_TRACE(std::to_string(rows) + " " + std::to_string(size) + " " + at::toString(type));
        expect_torchs_numbers({rows, size, type}, true);
      }
    }
    expect_torchs_numbers({300, 64, type}, true);
    expect_torchs_numbers({700, 33, type}, true);
    expect_torchs_numbers({5, 4096, type}, true);
    expect_torchs_numbers({5, 96, type}, false);
    Case pre_norm{9, 96, type};
    pre_norm.d_residual = at::randn({9, 96});
    expect_torchs_numbers(pre_norm, true);
  }
}

TEST(LayerNormKernel, HasTheGradientsOfAutograd) {
  Case own{20, 130, at::kFloat};
  own.rate = 0.3;
  own.forward();
  own.backward(6);
  // The mask and its factor are what is left of ones.
  Case ones = own;
  ones.x = at::ones_like(own.x);
  ones.residual = at::zeros({20, 130});
  ones.sum = Case::empty(20, 130);
  ones.normal = Case::empty(20, 130);
  ones.forward();
  at::Tensor x = own.x.clone().set_requires_grad(true);
  at::Tensor residual = own.residual.clone().set_requires_grad(true);
  at::Tensor weight = own.weight.clone().set_requires_grad(true);
  at::Tensor bias = own.bias.clone().set_requires_grad(true);
  const at::Tensor y =
      at::layer_norm(residual.add(x.mul(ones.sum)), {130}, weight, bias, double(own.eps));
  EXPECT_LT(apart(own.normal, y.detach()), 1e-6);
  y.backward(own.d_normal);
  EXPECT_LT(apart(own.d_x, x.grad()), 3e-6);
  EXPECT_LT(apart(own.d_sum, residual.grad()), 3e-6);
  EXPECT_LT(apart(own.d_weight.sub(1), weight.grad()), 5e-6);
  EXPECT_LT(apart(own.d_bias.sub(1), bias.grad()), 5e-6);
}

TEST(LayerNormKernel, DropsAtItsRate) {
  const auto kept = [](double rate, unsigned mask, unsigned long long seed) {
    Case ones{300, 130, at::kFloat};
    ones.x = at::ones_like(ones.x);
    ones.residual.zero_();
    ones.rate = rate;
    ones.mask = mask;
    ones.seed = seed;
    ones.forward();
    return ones.sum;
  };
  const double count = 300 * 130;
  for (const double rate : {0.1, 0.5, 0.9}) {
    const at::Tensor numbers = kept(rate, 0, 5);
    const double share = numbers.count_nonzero().item<double>() / count;
    EXPECT_NEAR(share, 1 - rate, 4 * std::sqrt(rate * (1 - rate) / count)) << rate;
    EXPECT_EQ(numbers.max().item<float>(), static_cast<float>(1 / (1 - rate)));
    EXPECT_NEAR(numbers.mean().item<double>(), 1, 4 * std::sqrt(rate / (1 - rate) / count));
  }
  // Rows, columns, masks and seeds, of which both halves count, are independent.
  const at::Tensor first = kept(0.5, 0, 5).sub(1);
  for (const at::Tensor& other :
       {first.roll(1, 0), first.roll(1, 1), first.roll(4, 1), kept(0.5, 1, 5).sub(1),
        kept(0.5, 0, 6).sub(1), kept(0.5, 0, 5 + (1ULL << 32)).sub(1)}) {
    EXPECT_NEAR(first.mul(other).mean().item<double>(), 0, 4 / std::sqrt(count));
  }
}

TEST(LayerNormKernel, BackwardPassHasTheForwardPasssMask) {
  for (const auto type : types) {
    Case own{40, 97, type};
    own.x = at::ones_like(own.x);
    own.residual.zero_();
    own.rate = 0.25;
    own.mask = 3;
    own.forward();
    own.backward(7);
    const at::Tensor expected = own.d_sum.mul(own.sum);
    EXPECT_LE(apart(own.d_x, expected.to(type)), epsilon_of(type));
    EXPECT_GT(own.d_x.count_nonzero().item<std::int64_t>(), 0);
  }
}

TEST(LayerNormKernel, GivesEqualBitsForEachOrderAndAlignment) {
  for (const auto type : types) {
    for (const std::int64_t size : {9, 64, 130, 384}) {
      Case first{10, size, type};
      first.rate = 0.1;
      const auto again = [&](Turns turns, bool moves) {
        Case other = first;
        for (const auto member :
             {&Case::x, &Case::residual, &Case::d_normal, &Case::weight, &Case::bias, &Case::sum,
              &Case::normal, &Case::moments, &Case::narrow, &Case::d_sum, &Case::d_x,
              &Case::d_weight, &Case::d_bias}) {
          const at::Tensor& from = first.*member;
          at::Tensor to = at::empty({from.numel() + 1}, from.options());
          to = to.narrow(0, moves ? 1 : 0, from.numel()).view(from.sizes());
          to.copy_(from);
          other.*member = to;
        }
        other.forward(turns);
        other.backward(3, turns);
        return other;
      };
      const Case one = again(Turns::forwards, false);
      expect_equal_bits(one, again(Turns::forwards, false));
      expect_equal_bits(one, again(Turns::backwards, false));
      expect_equal_bits(one, again(Turns::backwards, true));
    }
  }
}

TEST(LayerNormKernel, WritesOnlyWhatIsAskedFor) {
  Case whole{4, 40, at::kBFloat16};
  Case part = whole;
  part.normal = Case::empty(4, 40);
  part.d_sum = Case::empty(4, 40);
  whole.forward();
  whole.backward(2);
  part.sum = part.moments = part.narrow = at::Tensor{};
  part.forward();
  EXPECT_TRUE(have_equal_bits(part.normal, whole.normal));
  part.sum = whole.sum;
  part.moments = whole.moments;
  part.d_x = at::Tensor{};
  part.backward(2);
  EXPECT_TRUE(have_equal_bits(part.d_sum, whole.d_sum));
}

}  // namespace
}  // namespace seqtrain::tests::layer_norm_kernel
