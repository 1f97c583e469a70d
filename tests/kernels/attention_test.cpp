#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/kernels/attention.hpp>

namespace seqtrain::kernels {
namespace {

/// One head whose rows lie `ld` apart, and an objective sum(weights * attention).
struct Problem {
  std::size_t length, queries, size;
  Dropout dropout;
  std::size_t ld = 3 * size + 5;
  std::vector<float> qkv = noise(1, length* ld);
  std::vector<float> weights = noise(2, length* size);

  static std::vector<float> noise(std::uint64_t seed, std::size_t count) {
    const random::Stream stream{seed, random::Purpose::data};
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = 2 * random::to_float(stream.at(i)) - 1;
    return values;
  }

  [[nodiscard]] Head<float> head() const {
    return {qkv.data(), qkv.data() + size, qkv.data() + 2 * size,
            ld,         queries,           length,
            size,       dropout,           1000};
  }

  [[nodiscard]] std::vector<double> reference() const {
    std::vector<double> out(queries * size);
    for (std::size_t q = 0; q < queries; ++q) {
      std::vector<double> p(length);
      double total = 0;
      for (std::size_t j = 0; j < length; ++j) {
        double dot = 0;
        for (std::size_t d = 0; d < size; ++d) {
          dot += static_cast<double>(qkv[q * ld + d]) * qkv[j * ld + size + d];
        }
        p[j] = std::exp(dot / std::sqrt(static_cast<double>(size)));
        total += p[j];
      }
      for (std::size_t j = 0; j < length; ++j) {
        Width<4>::Floats keep = Width<4>::Floats{} + 1;
        dropout.apply(static_cast<std::uint32_t>(1000 + q * length + j), keep);
        for (std::size_t d = 0; d < size; ++d) {
          out[q * size + d] += p[j] / total * keep[0] * qkv[j * ld + 2 * size + d];
        }
      }
    }
    return out;
  }

  [[nodiscard]] double objective() const {
    const auto out = reference();
    double total = 0;
    for (std::size_t i = 0; i < out.size(); ++i) total += out[i] * weights[i];
    return total;
  }
};

class Attention : public testing::TestWithParam<Problem> {};

std::vector<float> memory(const Problem& p) {
  return std::vector<float>(AttentionScratch::floats(p.length, p.size));
}

TEST_P(Attention, ForwardAgreesWithTheFormula) {
  const Problem& p = GetParam();
  auto scratch = memory(p);
  std::vector<float> out(p.queries * p.size);
  attend(p.head(), out.data(), p.size, {scratch.data()});
  const auto expected = p.reference();
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], expected[i], 2e-6);
}

TEST_P(Attention, BackwardAgreesWithDifferences) {
  Problem p = GetParam();
  auto scratch = memory(p);
  std::vector<float> gradient(p.qkv.size());
  attend_backward(p.head(), p.weights.data(), p.size, gradient.data(), gradient.data() + p.size,
                  gradient.data() + 2 * p.size, {scratch.data()});
  for (std::size_t row = 0; row < p.length; ++row) {
    for (std::size_t i = 0; i < 3 * p.size; ++i) {
      if (i < p.size && row >= p.queries) continue;  // did not ask
      constexpr float h = 1.0F / 1024;
      float& value = p.qkv[row * p.ld + i];
      const float before = value;
      value = before + h;
      const double above = p.objective();
      value = before - h;
      const double below = p.objective();
      value = before;
      EXPECT_NEAR(gradient[row * p.ld + i], (above - below) / (2.0 * h), 2e-5);
    }
  }
}

TEST_P(Attention, GradientsMayReplaceTheirArguments) {
  Problem p = GetParam();
  auto scratch = memory(p);
  std::vector<float> apart(p.qkv.size());
  attend_backward(p.head(), p.weights.data(), p.size, apart.data(), apart.data() + p.size,
                  apart.data() + 2 * p.size, {scratch.data()});
  float* const q = p.qkv.data();
  attend_backward(p.head(), p.weights.data(), p.size, q, q + p.size, q + 2 * p.size,
                  {scratch.data()});
  for (std::size_t row = 0; row < p.length; ++row) {
    for (std::size_t i = row < p.queries ? 0 : p.size; i < 3 * p.size; ++i) {
      EXPECT_EQ(p.qkv[row * p.ld + i], apart[row * p.ld + i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Attention,
                         testing::Values(Problem{1, 1, 16, {}}, Problem{5, 5, 8, {}},
                                         Problem{17, 17, 12, {9, 0.2}},
                                         Problem{32, 32, 16, {9, 0.5}},
                                         Problem{19, 1, 32, {9, 0.1}},
                                         Problem{33, 7, 20, {9, 0.3}}));

TEST(Attention, LargeScoresDoNotOverflow) {
  Problem p{4, 4, 16, {}};
  for (float& value : p.qkv) value *= 1000;
  auto scratch = memory(p);
  std::vector<float> out(p.queries * p.size);
  attend(p.head(), out.data(), p.size, {scratch.data()});
  for (const float value : out) EXPECT_TRUE(std::isfinite(value));
}

}  // namespace
}  // namespace seqtrain::kernels
