#include <array>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/weights/tensor_copies.hpp>

namespace seqtrain::weights {
namespace {

TEST(TensorCopies, OutliveWhatTheyWereMadeOf) {
  std::array<float, 3> numbers{1, 2, 3};
  const std::vector<TensorView> tensors{
      {"a", DType::f32, {3}, std::as_bytes(std::span{numbers})},
      {"empty", DType::f32, {0}, {}},
      {"b", DType::f32, {}, std::as_bytes(std::span{numbers}.subspan(2))}};
  TensorCopies copies;
  EXPECT_TRUE(copies.empty());
  copies.assign(tensors);
  numbers.fill(0);
  const TensorCopies moved = std::move(copies);
  ASSERT_EQ(moved.views().size(), 3U);
  EXPECT_EQ(to_floats(moved.views()[0]), (std::vector<float>{1, 2, 3}));
  EXPECT_TRUE(to_floats(moved.views()[1]).empty());
  EXPECT_EQ(to_floats(moved.views()[2]), (std::vector<float>{3}));
  EXPECT_EQ(moved.views()[2].name, "b");
}

TEST(TensorCopies, UseTheirMemoryAgain) {
  const std::array<float, 2> numbers{4, 5};
  const TensorView tensor{"a", DType::f32, {2}, std::as_bytes(std::span{numbers})};
  TensorCopies copies;
  copies.assign({&tensor, 1});
  const auto* const place = copies.views()[0].bytes.data();
  copies.assign({&tensor, 1});
  EXPECT_EQ(copies.views()[0].bytes.data(), place);
}

}  // namespace
}  // namespace seqtrain::weights
