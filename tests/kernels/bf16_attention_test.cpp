#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/kernels/bf16_attention.hpp>

namespace seqtrain::kernels {
namespace {

std::vector<Bf16> made_numbers(std::size_t count) {
  std::vector<Bf16> result;
  std::uint32_t seed = 7;
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 1664525 + 1013904223;
    result.push_back(to_bf16(static_cast<float>(seed >> 16) / 16384 - 2));
  }
  return result;
}

struct Attended {
  std::size_t length, size, queries;

  [[nodiscard]] Head<Bf16> head(const std::vector<Bf16>& qkv) const {
    return {.q = qkv.data(),
            .k = qkv.data() + size,
            .v = qkv.data() + 2 * size,
            .ld = 3 * size,
            .queries = queries,
            .length = length,
            .size = size,
            .dropout = {},
            .first = 0};
  }

  template <class Attend>
  [[nodiscard]] std::vector<Bf16> by(const std::vector<Bf16>& qkv, const Attend& attend_by) const {
    std::vector<Bf16> out(queries * size);
    std::vector<float> memory(AttentionScratch::floats(length, size));
    attend_by(head(qkv), out.data(), size, AttentionScratch{memory.data()});
    return out;
  }
};

TEST(Bf16Attention, IsThatOfFloatsUpToRounding) {
  for (const std::size_t size : {32U, 64U}) {
    if (!has_bf16_attention(size)) GTEST_SKIP() << "the processor has no bfloat16 products";
    for (const std::size_t length : {1U, 5U, 16U, 17U, 40U, 65U, 131U}) {
      for (const std::size_t queries : {std::size_t{1}, length}) {
        const Attended attended{length, size, queries};
        const auto qkv = made_numbers(length * 3 * size);
        const auto found = attended.by(qkv, attend_in_bf16);
        const auto expected = attended.by(qkv, attend<Bf16>);
        for (std::size_t i = 0; i < found.size(); ++i) {
          EXPECT_NEAR(to_float(found[i]), to_float(expected[i]), 0.02)
              << "size " << size << " length " << length << " at " << i;
        }
      }
    }
  }
}

TEST(Bf16Attention, AQueryDoesNotDependOnTheOthers) {
  const std::size_t size = 32, length = 23;
  if (!has_bf16_attention(size)) GTEST_SKIP() << "the processor has no bfloat16 products";
  const auto qkv = made_numbers(length * 3 * size);
  const auto all = Attended{length, size, length}.by(qkv, attend_in_bf16);
  for (std::size_t queries = 1; queries < length; ++queries) {
    const auto some = Attended{length, size, queries}.by(qkv, attend_in_bf16);
    for (std::size_t i = 0; i < some.size(); ++i) EXPECT_EQ(some[i].bits, all[i].bits);
  }
}

}  // namespace
}  // namespace seqtrain::kernels
