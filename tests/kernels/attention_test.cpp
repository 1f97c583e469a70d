#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/kernels/attention.hpp>
#include <seqtrain/kernels/attention_backward.hpp>

namespace seqtrain::kernels {
namespace {

/// What is added to the scores of a problem.
struct Additions {
  std::size_t sliding_window = std::numeric_limits<std::size_t>::max();
  bool bias = false;
  bool key_vectors = false;
  bool query_vectors = false;
  bool causal = false;
  float factor = 0;  ///< 0 for that of the head's size
  float cap = 0;
};

/// One head whose rows lie `ld` apart, and an objective sum(weights * attention).
struct Problem {
  std::size_t length, queries, size;
  HashDropout dropout;
  Additions additions = {};
  std::size_t ld = 3 * size + 5;
  std::size_t distances = 2 * length - 1;
  std::vector<float> qkv = noise(1, length* ld);
  std::vector<float> weights = noise(2, length* size);
  std::vector<float> bias = noise(3, distances);
  std::vector<float> keys = noise(4, distances* size);
  std::vector<float> scaled_queries = noise(5, distances* size);

  static std::vector<float> noise(std::uint64_t seed, std::size_t count) {
    const random::Stream stream{seed, random::Purpose::data};
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = 2 * random::to_float(stream.at(i)) - 1;
    return values;
  }

  [[nodiscard]] AttentionHead<float> head() const {
    return {.q = qkv.data(),
            .k = qkv.data() + size,
            .v = qkv.data() + 2 * size,
            .ld = ld,
            .queries = queries,
            .length = length,
            .size = size,
            .dropout = dropout,
            .first = 1000,
            .sliding_window = additions.sliding_window,
            .bias = additions.bias ? bias.data() + length - 1 : nullptr,
            .parts = parts(),
            .factor = additions.factor,
            .cap = additions.cap,
            .causal = additions.causal};
  }

  [[nodiscard]] std::size_t parts() const {
    return 1 + (additions.key_vectors ? 1 : 0) + (additions.query_vectors ? 1 : 0);
  }

  [[nodiscard]] double score(std::size_t q, std::size_t j) const {
    const std::size_t to_key = length - 1 + j - q;
    const std::size_t to_query = length - 1 + q - j;
    const double usual = 1 / std::sqrt(static_cast<double>(size * parts()));
    const double scale = additions.factor == 0 ? usual : static_cast<double>(additions.factor);
    double sum = 0;
    for (std::size_t d = 0; d < size; ++d) {
      const double query = scale * qkv[q * ld + d];
      const double key = qkv[j * ld + size + d];
      sum += query * key;
      if (additions.key_vectors) sum += query * keys[to_key * size + d];
      if (additions.query_vectors) sum += key * scaled_queries[to_query * size + d];
    }
    const double cap = additions.cap;
    if (cap != 0) sum = cap * std::tanh(sum / cap);
    return sum + (additions.bias ? bias[to_key] : 0);
  }

  [[nodiscard]] std::vector<double> reference() const {
    std::vector<double> out(queries * size);
    for (std::size_t q = 0; q < queries; ++q) {
      const std::size_t begin = q > additions.sliding_window ? q - additions.sliding_window : 0;
      const std::size_t later = additions.causal ? 0 : additions.sliding_window;
      const std::size_t end = later < length ? std::min(length, q + later + 1) : length;
      std::vector<double> p(length);
      double total = 0;
      for (std::size_t j = begin; j < end; ++j) total += p[j] = std::exp(score(q, j));
      for (std::size_t j = begin; j < end; ++j) {
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

  /// The derivative of the objective by one of its numbers.
  [[nodiscard]] double slope(float& value) const {
    constexpr float h = 1.0F / 1024;
    const float before = value;
    value = before + h;
    const double above = objective();
    value = before - h;
    const double below = objective();
    value = before;
    return (above - below) / (2.0 * h);
  }
};

/// The vectors of distances as attention reads them, and their gradients.
struct Tables {
  explicit Tables(const Problem& p)
      : wide{round_to_lanes(p.size)},
        ld{round_to_lanes(p.distances) + lanes},
        keys{table(p, p.keys)},
        queries{table(p, p.scaled_queries)},
        keys_transposed{transposed(p, p.keys)},
        queries_transposed{transposed(p, p.scaled_queries)},
        d_keys(keys.size()),
        d_queries(queries.size()),
        d_bias(p.distances) {}

  [[nodiscard]] std::vector<float> table(const Problem& p, const std::vector<float>& from) const {
    std::vector<float> to(p.distances * wide);
    for (std::size_t i = 0; i < from.size(); ++i) to[i / p.size * wide + i % p.size] = from[i];
    return to;
  }

  [[nodiscard]] std::vector<float> transposed(const Problem& p,
                                              const std::vector<float>& from) const {
    std::vector<float> to(p.size * ld);
    for (std::size_t i = 0; i < from.size(); ++i) to[i % p.size * ld + i / p.size] = from[i];
    return to;
  }

  [[nodiscard]] AttentionHead<float> head(const Problem& p) {
    AttentionHead<float> head = p.head();
    if (p.additions.bias) head.d_bias = d_bias.data() + p.length - 1;
    head.vectors.ld = ld;
    head.vectors.zero = p.length - 1;
    if (p.additions.key_vectors) {
      head.vectors.keys = keys.data();
      head.vectors.keys_transposed = keys_transposed.data();
      head.vectors.d_keys = d_keys.data();
    }
    if (p.additions.query_vectors) {
      head.vectors.queries = queries.data();
      head.vectors.queries_transposed = queries_transposed.data();
      head.vectors.d_queries = d_queries.data();
    }
    return head;
  }

  std::size_t wide, ld;
  std::vector<float> keys, queries, keys_transposed, queries_transposed;
  std::vector<float> d_keys, d_queries, d_bias;
};

class Attention : public testing::TestWithParam<Problem> {};

std::vector<float> memory(const Problem& p) {
  const bool with_vectors = p.parts() > 1;
  return std::vector<float>(
      AttentionScratch::floats(p.length, p.size, p.additions.sliding_window, with_vectors));
}

TEST_P(Attention, ForwardAgreesWithTheFormula) {
  const Problem& p = GetParam();
  auto scratch = memory(p);
  Tables tables{p};
  std::vector<float> out(p.queries * p.size);
  attend(tables.head(p), out.data(), p.size, {scratch.data()});
  const auto expected = p.reference();
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], expected[i], 2e-6);
}

TEST_P(Attention, BackwardAgreesWithDifferences) {
  Problem p = GetParam();
  auto scratch = memory(p);
  Tables tables{p};
  std::vector<float> gradient(p.qkv.size());
  attend_backward(tables.head(p), p.weights.data(), p.size, gradient.data(),
                  gradient.data() + p.size, gradient.data() + 2 * p.size, {scratch.data()});
  // Long sequences would take long: some rows stand for all of them.
  const std::size_t step = p.length > 40 ? 13 : 1;
  for (std::size_t row = 0; row < p.length; row += step) {
    for (std::size_t i = 0; i < 3 * p.size; ++i) {
      if (i < p.size && row >= p.queries) continue;  // it does not attend
      EXPECT_NEAR(gradient[row * p.ld + i], p.slope(p.qkv[row * p.ld + i]), 2e-5);
    }
  }
  for (std::size_t i = 0; i < p.distances; i += step) {
    if (p.additions.bias) {
      EXPECT_NEAR(tables.d_bias[i], p.slope(p.bias[i]), 2e-5);
    }
    for (std::size_t d = 0; d < p.size; d += 3) {
      if (p.additions.key_vectors) {
        EXPECT_NEAR(tables.d_keys[i * tables.wide + d], p.slope(p.keys[i * p.size + d]), 2e-5);
      }
      if (p.additions.query_vectors) {
        EXPECT_NEAR(tables.d_queries[i * tables.wide + d],
                    p.slope(p.scaled_queries[i * p.size + d]), 2e-5);
      }
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

INSTANTIATE_TEST_SUITE_P(Reaches, Attention,
                         testing::Values(Problem{30, 30, 16, {9, 0.2}, {.sliding_window = 3}},
                                         Problem{20, 20, 8, {}, {.sliding_window = 19}},
                                         Problem{20, 20, 8, {}, {.sliding_window = 20}},
                                         Problem{20, 20, 8, {}, {.sliding_window = 1}},
                                         Problem{30, 1, 16, {}, {.sliding_window = 5}},
                                         Problem{150, 150, 4, {}, {.sliding_window = 17}},
                                         Problem{130, 130, 4, {9, 0.3}, {.sliding_window = 64}},
                                         Problem{90, 90, 4, {}, {.sliding_window = 200}}));

INSTANTIATE_TEST_SUITE_P(
    Distances, Attention,
    testing::Values(Problem{21, 21, 16, {9, 0.2}, {.bias = true}},
                    Problem{17, 1, 8, {}, {.bias = true}},
                    Problem{70, 70, 4, {}, {.sliding_window = 9, .bias = true}},
                    Problem{16, 16, 16, {}, {.key_vectors = true}},
                    Problem{16, 16, 16, {}, {.query_vectors = true}},
                    Problem{19, 19, 20, {9, 0.2}, {.key_vectors = true, .query_vectors = true}},
                    Problem{33, 33, 8, {}, {.key_vectors = true, .query_vectors = true}},
                    Problem{35, 1, 8, {}, {.key_vectors = true, .query_vectors = true}},
                    Problem{1, 1, 8, {}, {.key_vectors = true, .query_vectors = true}}));

INSTANTIATE_TEST_SUITE_P(
    Causal, Attention,
    testing::Values(Problem{21, 21, 16, {9, 0.2}, {.causal = true}},
                    Problem{1, 1, 8, {}, {.causal = true}}, Problem{19, 4, 8, {}, {.causal = true}},
                    Problem{270, 270, 4, {}, {.causal = true}},
                    Problem{90, 90, 4, {9, 0.1}, {.sliding_window = 17, .causal = true}}));

INSTANTIATE_TEST_SUITE_P(
    Scores, Attention,
    testing::Values(Problem{21, 21, 16, {9, 0.2}, {.bias = true, .factor = 0.7F, .cap = 2}},
                    Problem{17, 1, 8, {}, {.factor = 0.5F}},
                    Problem{90, 90, 4, {}, {.sliding_window = 17, .causal = true, .cap = 1}},
                    Problem{130, 130, 4, {}, {.causal = true, .factor = 3, .cap = 50}}));

/// Two heads of queries read the keys and values of one; the gradients of these are the sums.
TEST(Attention, HeadsThatShareKeysAddUpTheirGradients) {
  constexpr std::size_t length = 19, size = 8, ld = 4 * size;
  const auto rows = Problem::noise(1, length * ld), weights = Problem::noise(2, length * 2 * size);
  AttentionHead<float> head{.q = rows.data(),
                            .k = rows.data() + 2 * size,
                            .v = rows.data() + 3 * size,
                            .ld = ld,
                            .queries = length,
                            .length = length,
                            .size = size,
                            .dropout = {9, 0.2},
                            .first = 1000,
                            .causal = true,
                            .sharing = 2};
  std::vector<float> scratch(AttentionScratch::floats(length, size));
  std::vector<float> both(length * ld);
  const auto backward = [&](std::vector<float>& to, std::size_t column) {
    attend_backward(head, weights.data() + column, 2 * size, to.data() + column,
                    to.data() + 2 * size, to.data() + 3 * size, {scratch.data()});
  };
  backward(both, 0);
  head.sharing = 1;
  std::vector<float> first(length * ld), second(length * ld);
  backward(first, 0);
  head.q += size;
  head.first += length * length;
  backward(second, size);
  for (std::size_t i = 0; i < both.size(); ++i) {
    EXPECT_NEAR(both[i], first[i] + second[i], 1e-6) << i;
  }
}

TEST(Attention, MemoryForALengthIsEnoughForShorterTexts) {
  for (const std::size_t sliding_window :
       {3UL, 64UL, 128UL, 300UL, 511UL, 512UL, 600UL, no_sliding_window}) {
    std::size_t most = 0;
    for (std::size_t length = 1; length < 1300; ++length) {
      const std::size_t floats = AttentionScratch::floats(length, 64, sliding_window, true);
      EXPECT_GE(floats, most) << length << " tokens, window " << sliding_window;
      most = std::max(most, floats);
    }
  }
}

TEST(Attention, ManyQueriesGoInBlocks) {
  const Problem p{530, 530, 4, {9, 0.1}, {.bias = true}};
  auto scratch = memory(p);
  std::vector<float> out(p.queries * p.size);
  attend(p.head(), out.data(), p.size, {scratch.data()});
  const auto expected = p.reference();
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], expected[i], 2e-6);
}

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
