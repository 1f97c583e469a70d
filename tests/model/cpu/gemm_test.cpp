#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/int8.hpp>
#include <seqtrain/kernels/lanes.hpp>
#include <seqtrain/kernels/pack.hpp>
#include <seqtrain/model/cpu/gemm.hpp>

namespace seqtrain::model::cpu {
namespace {

/// A product whose result lies in wider rows, with numbers around it that must stay.
template <class T>
struct Panel {
  std::size_t k;
  std::size_t columns;
  std::vector<float> weights = std::vector<float>(k * columns);
  std::vector<T> packed = std::vector<T>(k * columns);

  static constexpr std::size_t most_rows = 50;
  static constexpr std::size_t gap = 3;

  Panel(std::size_t depth, std::size_t width, float unit) : k{depth}, columns{width} {
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = unit * (static_cast<float>(i % 13) - 6);
    kernels::pack_panel(weights.data(), columns, k, columns, packed.data());
  }

  [[nodiscard]] std::size_t ld() const { return k + gap; }
  [[nodiscard]] std::vector<T> input(float unit) const {
    std::vector<T> x(most_rows * ld());
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = kernels::from_float<T>(unit * (static_cast<float>(i % 11) - 5));
    return x;
  }
  /// Returns the rows of the product, each with `gap` numbers more.
  [[nodiscard]] std::vector<float> multiply(const T* x, std::size_t rows, bool accumulate) const {
    std::vector<float> y(rows * (columns + gap), 7);
    const TileGuard tiles;
    multiply_panel(rows, k, x, ld(), packed.data(), y.data(), columns + gap, accumulate, columns);
    return y;
  }
};

constexpr std::size_t depths[]{2, 30, 32, 34, 64, 98, 800};

template <class T>
class Gemm : public testing::Test {};
using Numbers = testing::Types<float, Bf16>;
TYPED_TEST_SUITE(Gemm, Numbers);

TYPED_TEST(Gemm, IsExactForSmallIntegersOfAnyShape) {
  for (const std::size_t k : depths) {
    for (const std::size_t columns : {16U, 32U, 48U, 64U}) {
      const Panel<TypeParam> panel{k, columns, 1};
      const auto x = panel.input(1);
      for (const std::size_t rows : {1U, 2U, 15U, 16U, 17U, 31U, 32U, 33U, 48U, 50U}) {
        for (const bool accumulate : {false, true}) {
          const auto y = panel.multiply(x.data(), rows, accumulate);
          for (std::size_t i = 0; i < y.size(); ++i) {
            const std::size_t row = i / (columns + panel.gap), column = i % (columns + panel.gap);
            float expected = accumulate || column >= columns ? 7 : 0;
            for (std::size_t j = 0; column < columns && j < k; ++j)
              expected +=
                  kernels::to_float(x[row * panel.ld() + j]) * panel.weights[j * columns + column];
            ASSERT_EQ(y[i], expected) << k << ' ' << columns << ' ' << rows << ' ' << accumulate;
          }
        }
      }
    }
  }
}

TYPED_TEST(Gemm, FetchesWhatIsAheadWithoutAnotherResult) {
  const std::vector<float> later(64 * 100);
  for (const std::size_t k : depths) {
    const Panel<TypeParam> panel{k, 64, 0.3F};
    const auto x = panel.input(0.7F);
    for (const std::size_t rows : {1U, 16U, 17U, 50U}) {
      std::vector<float> y(rows * (64 + panel.gap), 7);
      const TileGuard tiles;
      multiply_panel(rows, k, x.data(), panel.ld(), panel.packed.data(), y.data(), 64 + panel.gap,
                     true, 64, Ahead::of(later.data(), 64, 64, 100));
      EXPECT_EQ(y, panel.multiply(x.data(), rows, true)) << k << ' ' << rows;
    }
  }
}

TEST(Gemm, TilesComputeARowsBitsAloneOrAmongOthers) {
  if (!has_tiles()) GTEST_SKIP() << "the processor has no tiles";
  for (const std::size_t k : depths) {
    const Panel<Bf16> panel{k, 64, 0.3F};
    const auto x = panel.input(0.7F);
    const auto all = panel.multiply(x.data(), panel.most_rows, false);
    for (std::size_t row = 0; row < panel.most_rows; ++row) {
      const auto alone = panel.multiply(x.data() + row * panel.ld(), 1, false);
      for (std::size_t i = 0; i < 64; ++i)
        ASSERT_EQ(alone[i], all[row * (64 + panel.gap) + i]) << k << ' ' << row << ' ' << i;
    }
  }
}

#if SEQTRAIN_HAS_CLONES
TEST(Gemm, TilesMultiplyBytesLikeOtherInstructions) {
  if (!has_tiles()) GTEST_SKIP() << "the processor has no tiles";
  constexpr std::size_t most_rows = 35;
  for (const std::size_t k : {16U, 48U, 64U, 400U}) {
    std::vector<float> numbers((most_rows + panel) * k), scales(most_rows),
        scales_of_weights(panel);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<float>(i * 37 % 101) - 50;
    std::vector<std::uint8_t> bytes(most_rows * k);
    const kernels::QuantizedRows x{bytes.data(), scales.data()};
    kernels::quantize_rows(numbers.data(), most_rows, k, x);
    std::vector<std::int8_t> weights(panel * k);
    std::vector<std::int32_t> excess(panel), sums(most_rows * panel);
    const kernels::Int8Panel factor{weights.data(), excess.data(), scales_of_weights.data()};
    kernels::quantize_panel(numbers.data() + most_rows * k, k, panel, factor);
    for (std::size_t rows = 1; rows <= most_rows; ++rows) {
      std::vector<float> y(rows * panel), by_tiles(rows * panel);
      const auto write_to = [](float* to) {
        return [to](std::size_t row, std::size_t column, const auto& values)
                   SEQTRAIN_INLINE_LAMBDA { kernels::store(to + row * panel + column, values); };
      };
      kernels::multiply_int8(x, rows, k, factor, panel, sums.data(), write_to(y.data()));
      const TileGuard tiles;
      kernels::multiply_int8_by_tiles(x, rows, k, factor, panel, sums.data(),
                                      write_to(by_tiles.data()));
      EXPECT_EQ(by_tiles, y) << k << ' ' << rows;
    }
  }
}
#endif

}  // namespace
}  // namespace seqtrain::model::cpu
