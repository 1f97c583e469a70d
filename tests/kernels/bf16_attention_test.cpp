#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/kernels/bf16_attention.hpp>

#include "support/tiles.hpp"

namespace seqtrain::kernels {
namespace {

/// One head of a text whose next rows hold NaN.
struct Bf16Problem {
  std::size_t length, size;
  bool by_tiles = false;
  std::size_t ld = 3 * size + 6;
  std::vector<Bf16> qkv = noise(length, ld);

  static std::vector<Bf16> noise(std::size_t length, std::size_t ld) {
    const random::Stream stream{7, random::Purpose::data};
    std::vector<Bf16> values((length + 16) * ld, to_bf16(std::numeric_limits<float>::quiet_NaN()));
    for (std::size_t i = 0; i < length * ld; ++i) {
      values[i] = to_bf16(4 * random::to_float(stream.at(i)) - 2);
    }
    return values;
  }

  [[nodiscard]] double number(std::size_t row, std::size_t column) const {
    return to_float(qkv[row * ld + column]);
  }

  [[nodiscard]] AttentionHead<Bf16> head(std::size_t queries) const {
    return {.q = qkv.data(),
            .k = qkv.data() + size,
            .v = qkv.data() + 2 * size,
            .ld = ld,
            .queries = queries,
            .length = length,
            .size = size,
            .dropout = {},
            .first = 0,
            .by_tiles = by_tiles};
  }

  [[nodiscard]] std::vector<Bf16> attend(std::size_t queries) const {
    std::vector<float> memory(AttentionScratch::floats(length, size) + lanes);
    std::vector<Bf16> out(queries * size);
    attend_bf16(head(queries), out.data(), size, {memory.data()});
    return out;
  }

  /// Returns a query's result by the formula.
  [[nodiscard]] std::vector<double> expected(std::size_t query) const {
    std::vector<double> result(size);
    double total = 0;
    for (std::size_t key = 0; key < length; ++key) {
      double score = 0;
      for (std::size_t i = 0; i < size; ++i) score += number(query, i) * number(key, size + i);
      const double weight = std::exp(score / std::sqrt(static_cast<double>(size)));
      total += weight;
      for (std::size_t i = 0; i < size; ++i) result[i] += weight * number(key, 2 * size + i);
    }
    for (double& value : result) value /= total;
    return result;
  }
};

class Bf16Attention : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_bf16_attention(32)) GTEST_SKIP() << "the processor has no bfloat16 products";
  }
};

void expect_the_formula(bool by_tiles) {
  for (const std::size_t size : {32U, 64U, 96U}) {
    for (const std::size_t length : {1U, 2U, 15U, 16U, 17U, 33U, 210U, 600U}) {
      const Bf16Problem problem{length, size, by_tiles};
      const auto out = problem.attend(length);
      for (std::size_t query = 0; query < length; ++query) {
        const auto expected = problem.expected(query);
        for (std::size_t i = 0; i < size; ++i) {
          // Values are at most 2; a weight and the result are rounded to 8 bits.
          ASSERT_NEAR(to_float(out[query * size + i]), expected[i], 2 * 0.004 + 0.004)
              << size << " columns, " << length << " keys, query " << query;
        }
      }
    }
  }
}

TEST_F(Bf16Attention, AgreesWithTheFormula) {
  expect_the_formula(/*by_tiles=*/false);
}

TEST_F(Bf16Attention, AgreesWithTheFormulaByTiles) {
  if (!tests::may_use_tiles()) GTEST_SKIP() << "the processor has no tiles";
  expect_the_formula(/*by_tiles=*/true);
}

TEST_F(Bf16Attention, DropsWhatFp32Drops) {
  for (const bool by_tiles : {false, true}) {
    if (by_tiles && !tests::may_use_tiles()) continue;
    const Bf16Problem problem{300, 32, by_tiles};
    AttentionHead<Bf16> head = problem.head(problem.length);
    head.dropout = HashDropout{9, 0.3};
    head.first = 77;
    std::vector<float> memory(AttentionScratch::floats(problem.length, problem.size) + lanes);
    std::vector<Bf16> out(problem.length * problem.size), expected(out.size());
    attend_bf16(head, out.data(), problem.size, {memory.data()});
    attend(head, expected.data(), problem.size, {memory.data()});
    for (std::size_t i = 0; i < out.size(); ++i) {
      ASSERT_NEAR(to_float(out[i]), to_float(expected[i]), 2 * 0.004 + 0.008) << "number " << i;
    }
  }
}

TEST_F(Bf16Attention, TakesWindowsAndWhatBelongsToDistances) {
  const Bf16Problem problem{150, 32};
  const std::size_t ld = round_to_lanes(2 * problem.length - 1) + lanes;
  const random::Stream stream{8, random::Purpose::data};
  std::vector<float> bias(2 * problem.length), vectors(2 * problem.size * ld);
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = 2 * random::to_float(stream.at(i));
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    vectors[i] = random::to_float(stream.at(1000 + i)) - 0.5F;
  }
  for (const std::size_t sliding_window :
       {std::size_t{1}, std::size_t{15}, std::size_t{64}, no_sliding_window}) {
    for (const int parts : {0, 1, 2, 3}) {
      AttentionHead<Bf16> head = problem.head(problem.length);
      head.sliding_window = sliding_window;
      if (parts % 2 == 1) head.bias = bias.data() + problem.length - 1;
      if (parts > 1) {
        head.vectors = {.keys_transposed = vectors.data(),
                        .queries_transposed = vectors.data() + problem.size * ld,
                        .ld = ld,
                        .zero = problem.length - 1};
      }
      std::vector<float> memory(
          AttentionScratch::floats(problem.length, problem.size, sliding_window, parts > 1) +
          lanes);
      std::vector<Bf16> out(problem.length * problem.size), expected(out.size());
      attend_bf16(head, out.data(), problem.size, {memory.data()});
      attend(head, expected.data(), problem.size, {memory.data()});
      for (std::size_t i = 0; i < out.size(); ++i) {
        ASSERT_NEAR(to_float(out[i]), to_float(expected[i]), 2 * 0.004 + 0.008)
            << "window " << sliding_window << ", parts " << parts << ", number " << i;
      }
    }
  }
}

TEST_F(Bf16Attention, ReadsNoLaterKeysOfDecoders) {
  for (const std::size_t sliding_window : {std::size_t{20}, no_sliding_window}) {
    const Bf16Problem problem{300, 32};
    AttentionHead<Bf16> head = problem.head(problem.length);
    head.causal = true;
    head.sliding_window = sliding_window;
    std::vector<float> memory(AttentionScratch::floats(problem.length, problem.size) + lanes);
    std::vector<Bf16> out(problem.length * problem.size), expected(out.size());
    attend_bf16(head, out.data(), problem.size, {memory.data()});
    attend(head, expected.data(), problem.size, {memory.data()});
    for (std::size_t i = 0; i < out.size(); ++i) {
      ASSERT_NEAR(to_float(out[i]), to_float(expected[i]), 2 * 0.004 + 0.008)
          << "window " << sliding_window << ", number " << i;
    }
  }
}

TEST_F(Bf16Attention, LeavesCappedScoresToFp32) {
  const Bf16Problem problem{40, 32};
  AttentionHead<Bf16> head = problem.head(problem.length);
  head.cap = 0.5;
  std::vector<float> memory(AttentionScratch::floats(problem.length, problem.size) + lanes);
  std::vector<Bf16> out(problem.length * problem.size), expected(out.size());
  attend_bf16(head, out.data(), problem.size, {memory.data()});
  attend(head, expected.data(), problem.size, {memory.data()});
  EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(Bf16)), 0);
}

TEST_F(Bf16Attention, AQueryDoesNotDependOnTheNumberOfQueries) {
  for (const bool by_tiles : {false, true}) {
    if (by_tiles && !tests::may_use_tiles()) continue;
    const Bf16Problem problem{77, 32, by_tiles};
    const auto all = problem.attend(77), one = problem.attend(1);
    EXPECT_EQ(std::memcmp(all.data(), one.data(), one.size() * sizeof(Bf16)), 0);
  }
}

TEST_F(Bf16Attention, KeysOutOfReachHaveNoWeight) {
  for (const bool by_tiles : {false, true}) {
    if (by_tiles && !tests::may_use_tiles()) continue;
    Bf16Problem problem{40, 32, by_tiles};
    for (std::size_t key = 0; key < problem.length; ++key) {
      const float value = key == 5 ? 1e30F : 0;
      std::fill_n(problem.qkv.data() + key * problem.ld + 64, 32, to_bf16(value));
    }
    AttentionHead<Bf16> head = problem.head(problem.length);
    head.sliding_window = 1;
    std::vector<float> memory(AttentionScratch::floats(problem.length, 32, 1) + lanes);
    std::vector<Bf16> out(problem.length * 32);
    attend_bf16(head, out.data(), 32, {memory.data()});
    for (std::size_t query = 0; query < problem.length; ++query) {
      const bool reaches = query >= 4 && query <= 6;
      EXPECT_EQ(to_float(out[query * 32]) != 0, reaches) << "query " << query;
    }
  }
}

TEST_F(Bf16Attention, LargeScoresDoNotOverflow) {
  Bf16Problem problem{40, 32};
  for (Bf16& value : problem.qkv) value = to_bf16(100 * to_float(value));
  for (const Bf16 value : problem.attend(40)) EXPECT_LE(std::abs(to_float(value)), 200);
}

TEST_F(Bf16Attention, NaNStaysInItsRow) {
  Bf16Problem problem{40, 32};
  problem.qkv[7 * problem.ld + 3] = to_bf16(std::numeric_limits<float>::quiet_NaN());
  const auto out = problem.attend(40);
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(std::isnan(to_float(out[i])), i / problem.size == 7) << "number " << i;
  }
}

TEST_F(Bf16Attention, TakesHeadsWhoseColumnsAreAMultipleOf32) {
  EXPECT_TRUE(has_bf16_attention(64));
  EXPECT_FALSE(has_bf16_attention(48));
  EXPECT_FALSE(has_bf16_attention(40));
}

}  // namespace
}  // namespace seqtrain::kernels
