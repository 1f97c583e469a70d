#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <ATen/ops/cat.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <seqtrain/cuda/norm_kernel.hpp>
#include <seqtrain/cuda/squares_kernel.hpp>

#include "support/run_kernel.hpp"  // the last one: it defines names of CUDA

namespace seqtrain::tests::norm_kernel {
namespace {

#include "kernels/norm_kernel.cu"
#include "kernels/squares_kernel.cu"

struct Norms {
  std::vector<double> norms;
  std::vector<float> steps;
  float found_inf = -1, clip = -1;

  friend bool operator==(const Norms&, const Norms&) = default;
};

/// Computes the norms of gradients by both kernels, in chunks of `size` numbers.
Norms norms_of(const std::vector<at::Tensor>& gradients, double max_norm,
               std::optional<float> scale = {}, Turns turns = Turns::forwards,
               std::int64_t size = 32) {
  std::vector<SquaresChunk> chunks;
  Norms result{std::vector<double>(gradients.size() + (scale ? 1 : 0)),
               std::vector<float>(gradients.size(), 3)};
  std::vector<NormPart> parts;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    for (std::int64_t begin = 0; begin < gradients[i].numel(); begin += size) {
      const auto count = std::min(size, gradients[i].numel() - begin);
      chunks.push_back({gradients[i].const_data_ptr<float>() + begin, unsigned(count)});
    }
    parts.push_back({&result.steps[i], unsigned(chunks.size())});
  }
  std::vector<double> sums(chunks.size(), -1);
  run_grid(&seqtrain_squares, unsigned(chunks.size()), 256,
           SquaresArguments{chunks.data(), sums.data()}, turns);
  const NormArguments arguments{
      sums.data(),  parts.data(), scale ? &*scale : nullptr, result.norms.data(), &result.found_inf,
      &result.clip, max_norm,     unsigned(parts.size())};
  run_grid(&seqtrain_norm, 1, 1024, arguments, turns);
  return result;
}

double norm_of_all(const std::vector<at::Tensor>& gradients) {
  return at::linalg_vector_norm(at::cat(gradients), 2, {}, false, at::kDouble).item<double>();
}

constexpr double no_limit = std::numeric_limits<double>::infinity();

TEST(NormKernel, HasTheLayoutOfItsArguments) {
  EXPECT_EQ(sizeof(SquaresChunk), sizeof(cuda::SquaresChunk));
  EXPECT_EQ(offsetof(SquaresChunk, count), offsetof(cuda::SquaresChunk, count));
  EXPECT_EQ(sizeof(SquaresArguments), sizeof(cuda::SquaresArguments));
  EXPECT_EQ(offsetof(SquaresArguments, sums), offsetof(cuda::SquaresArguments, sums));
  EXPECT_EQ(sizeof(NormPart), sizeof(cuda::NormPart));
  EXPECT_EQ(offsetof(NormPart, end), offsetof(cuda::NormPart, end));
  EXPECT_EQ(sizeof(NormArguments), sizeof(cuda::NormArguments));
  EXPECT_EQ(offsetof(NormArguments, scale), offsetof(cuda::NormArguments, scale));
  EXPECT_EQ(offsetof(NormArguments, clip), offsetof(cuda::NormArguments, clip));
  EXPECT_EQ(offsetof(NormArguments, gradients), offsetof(cuda::NormArguments, gradients));
}

TEST(NormKernel, EqualsTorchsNorms) {
  for (std::int64_t count = 1; count <= 70; ++count) {
    const std::vector<at::Tensor> gradients{at::randn({count}), at::randn({71 - count}).mul(1e20)};
    const Norms norms = norms_of(gradients, 1);
    for (std::size_t i = 0; i < 2; ++i) {
      const double expected = norm_of_all({gradients[i]});
      EXPECT_NEAR(norms.norms[i] / expected, 1, 1e-14) << count;
    }
    EXPECT_EQ(norms.found_inf, 0);
    EXPECT_EQ(norms.clip, static_cast<float>(1 / (norm_of_all(gradients) + 1e-6)));
    EXPECT_EQ(norms.steps, (std::vector<float>{4, 4}));
  }
}

TEST(NormKernel, TakesManyGradientsAndChunks) {
  std::vector<at::Tensor> gradients;
  for (int i = 0; i < 100; ++i) gradients.push_back(at::randn({1 + i * i % 97}));
  gradients.push_back(at::randn({32 * 1000}));
  const Norms norms = norms_of(gradients, 2);
  EXPECT_NEAR(norms.norms.back() / norm_of_all({gradients.back()}), 1, 1e-14);
  EXPECT_NEAR(norms.clip / (2 / norm_of_all(gradients)), 1, 1e-6);
}

TEST(NormKernel, GivesEqualBitsForEachOrderAndAlignment) {
  for (const std::int64_t count : {1, 3, 31, 33, 70, 1025}) {
    const at::Tensor gradient = at::randn({count});
    const Norms norms = norms_of({gradient}, 1, {}, Turns::forwards, 512);
    EXPECT_EQ(norms_of({gradient}, 1, {}, Turns::backwards, 512), norms);
    const at::Tensor shifted = at::cat({at::randn({1}), gradient}).narrow(0, 1, count);
    EXPECT_EQ(norms_of({shifted}, 1, {}, Turns::forwards, 512), norms);
  }
}

TEST(NormKernel, FindsWhatIsNotFinite) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    for (const std::int64_t place : {0, 31, 32, 69}) {
      const std::vector<at::Tensor> gradients{at::randn({5}), at::randn({70})};
      gradients[1][place] = bad;
      const Norms norms = norms_of(gradients, 1);
      EXPECT_EQ(norms.found_inf, 1);
      EXPECT_TRUE(std::isfinite(norms.norms[0]));
      EXPECT_FALSE(std::isfinite(norms.norms[1]));
      EXPECT_EQ(norms.steps, (std::vector<float>{3, 3}));
    }
  }
}

TEST(NormKernel, DividesByTheLossScale) {
  const std::vector<at::Tensor> gradients{at::randn({70})};
  const Norms plain = norms_of(gradients, 1), scaled = norms_of({gradients[0].mul(8)}, 1, 8);
  EXPECT_NEAR(scaled.norms[0] / plain.norms[0], 1, 1e-15);
  EXPECT_EQ(scaled.norms[1], 8);
  EXPECT_NEAR(scaled.clip / (plain.clip / 8), 1, 1e-6);
  EXPECT_EQ(norms_of(gradients, no_limit).clip, 1);
  EXPECT_EQ(norms_of(gradients, no_limit, 8).clip, 0.125F);
  EXPECT_EQ(norms_of({gradients[0].mul(0)}, 1).clip, 1);
}

}  // namespace
}  // namespace seqtrain::tests::norm_kernel
