#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/kernels/attention_backward.hpp>
#include <seqtrain/kernels/bf16_attention.hpp>
#include <seqtrain/kernels/bf16_attention_backward.hpp>

#include "support/tiles.hpp"

namespace seqtrain::kernels {
namespace {

/// Heads with the same keys and the gradient of their results, in bfloat16 and the same numbers in
/// fp32.
struct BackwardProblem {
  std::size_t length, queries, size;
  HashDropout dropout = {};
  std::size_t sliding_window = no_sliding_window;
  bool has_bias = false;
  bool causal = false;
  std::size_t sharing = 1;
  std::size_t width = sharing * size;
  std::size_t ld = width + 2 * size + 2;
  std::vector<Bf16> qkv = noise(1, length* ld);
  std::vector<Bf16> d_out = noise(2, queries* width);
  std::vector<float> bias = wide(noise(3, 2 * length));

  static std::vector<Bf16> noise(std::uint64_t seed, std::size_t count) {
    const random::Stream stream{seed, random::Purpose::data};
    std::vector<Bf16> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = to_bf16(2 * random::to_float(stream.at(i)) - 1);
    }
    return values;
  }

  static std::vector<float> wide(const std::vector<Bf16>& from) {
    std::vector<float> to;
    for (const Bf16 value : from) to.push_back(to_float(value));
    return to;
  }

  /// Returns the gradient of q, k and v, then that of the bias.
  template <class T, class Backward>
  [[nodiscard]] std::vector<T> gradient(std::vector<T> numbers, const std::vector<T>& g,
                                        bool by_tiles, const Backward& backward,
                                        bool in_place = false) const {
    std::vector<float> d_bias(2 * length);
    std::vector<T> result(in_place ? 0 : length * ld);
    T* const d_q = in_place ? numbers.data() : result.data();
    const AttentionHead<T> head{.q = numbers.data(),
                                .k = numbers.data() + width,
                                .v = numbers.data() + width + size,
                                .ld = ld,
                                .queries = queries,
                                .length = length,
                                .size = size,
                                .dropout = dropout,
                                .first = 1000,
                                .sliding_window = sliding_window,
                                .bias = has_bias ? bias.data() + length - 1 : nullptr,
                                .d_bias = has_bias ? d_bias.data() + length - 1 : nullptr,
                                .causal = causal,
                                .sharing = sharing,
                                .by_tiles = by_tiles};
    const std::size_t floats = AttentionScratch::floats(length, size, sliding_window);
    std::vector<float> memory(floats + 1'000, 0.5F);
    backward(head, g.data(), width, d_q, d_q + width, d_q + width + size,
             AttentionScratch{memory.data()});
    EXPECT_TRUE(std::all_of(memory.begin() + static_cast<std::ptrdiff_t>(floats), memory.end(),
                            [](float value) { return value == 0.5F; }));
    if (in_place) result = std::move(numbers);
    for (const float value : d_bias) result.push_back(from_float<T>(value));
    return result;
  }

  [[nodiscard]] std::vector<Bf16> by_bf16(bool by_tiles, bool in_place = false) const {
    return gradient(
        qkv, d_out, by_tiles, [](const auto&... arguments) { attend_bf16_backward(arguments...); },
        in_place);
  }
  [[nodiscard]] std::vector<float> by_floats() const {
    return gradient(wide(qkv), wide(d_out), false,
                    [](const auto&... arguments) { attend_backward(arguments...); });
  }
};

/// Returns the 2-norm of the difference divided by that of the expected numbers.
double distance(const std::vector<Bf16>& numbers, const std::vector<float>& expected) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double of = to_float(numbers[i]), to = expected[i];
    difference += (of - to) * (of - to);
    norm += to * to;
  }
  return std::sqrt(difference / norm);
}

class Bf16AttentionBackward : public testing::TestWithParam<BackwardProblem> {
 protected:
  void SetUp() override {
    if (!has_bf16_attention(32)) GTEST_SKIP() << "the processor has no bfloat16 products";
  }
};

TEST_P(Bf16AttentionBackward, AgreesWithFp32) {
  const BackwardProblem& problem = GetParam();
  // Each factor of a product is rounded to 8 bits.
  EXPECT_LT(distance(problem.by_bf16(false), problem.by_floats()), 0.006);
}

TEST_P(Bf16AttentionBackward, TilesAgreeWithFp32) {
  if (!tests::may_use_tiles()) GTEST_SKIP() << "the processor has no tiles";
  const BackwardProblem& problem = GetParam();
  EXPECT_LT(distance(problem.by_bf16(true), problem.by_floats()), 0.006);
  EXPECT_LT(distance(problem.by_bf16(true), BackwardProblem::wide(problem.by_bf16(false))), 0.002);
}

TEST_P(Bf16AttentionBackward, GradientsMayReplaceTheirArguments) {
  const BackwardProblem& problem = GetParam();
  const auto apart = problem.by_bf16(false), in_place = problem.by_bf16(false, true);
  for (std::size_t i = 0; i < apart.size(); ++i) {
    const std::size_t row = i / problem.ld, column = i % problem.ld;
    const bool is_query = column < problem.width && row >= problem.queries;
    const bool is_gap = column >= problem.width + 2 * problem.size;
    if (row < problem.length && (is_query || is_gap)) continue;  // not written
    ASSERT_EQ(in_place[i].bits, apart[i].bits) << "row " << row << ", column " << column;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Bf16AttentionBackward,
    testing::Values(BackwardProblem{1, 1, 32}, BackwardProblem{5, 5, 32},
                    BackwardProblem{17, 17, 64, {9, 0.2}}, BackwardProblem{32, 32, 32, {9, 0.5}},
                    BackwardProblem{45, 1, 32, {9, 0.1}}, BackwardProblem{70, 33, 96, {9, 0.3}},
                    BackwardProblem{300, 300, 64, {9, 0.1}}, BackwardProblem{600, 600, 32}));

INSTANTIATE_TEST_SUITE_P(
    Reaches, Bf16AttentionBackward,
    testing::Values(BackwardProblem{30, 30, 32, {9, 0.2}, 3}, BackwardProblem{150, 150, 32, {}, 17},
                    BackwardProblem{200, 200, 64, {9, 0.1}, 64},
                    BackwardProblem{60, 60, 32, {9, 0.1}, no_sliding_window, true},
                    BackwardProblem{160, 160, 32, {}, 20, true}));

INSTANTIATE_TEST_SUITE_P(
    OfDecoders, Bf16AttentionBackward,
    testing::Values(BackwardProblem{40, 40, 32, {9, 0.2}, no_sliding_window, false, true},
                    BackwardProblem{300, 300, 64, {}, no_sliding_window, false, true, 2},
                    BackwardProblem{150, 150, 32, {9, 0.1}, 20, false, true, 4},
                    BackwardProblem{70, 70, 64, {9, 0.3}, no_sliding_window, false, false, 3}));

}  // namespace
}  // namespace seqtrain::kernels
