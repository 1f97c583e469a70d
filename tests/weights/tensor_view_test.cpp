#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::weights {
namespace {

using Shape = std::vector<std::int64_t>;

TEST(TensorView, CountsElements) {
  EXPECT_EQ(numel(Shape{}), 1);
  EXPECT_EQ(numel(Shape{2, 3, 4}), 24);
  EXPECT_EQ(numel(Shape{5, 0}), 0);
}

TEST(TensorView, GivesFloatsWhereTheyLie) {
  const std::vector<float> numbers{1, 2, 3};
  const auto bytes = std::as_bytes(std::span{numbers});
  const auto floats = as_floats({.name = "x", .shape = {3}, .bytes = bytes});
  ASSERT_TRUE(floats);
  EXPECT_EQ(floats->data(), numbers.data());
  EXPECT_EQ(floats->size(), 3);
  EXPECT_FALSE(as_floats({.name = "x", .shape = {2}, .bytes = bytes.subspan(1, 8)}));
  EXPECT_FALSE(as_floats({.name = "x", .dtype = DType::f16, .shape = {6}, .bytes = bytes}));
}

TEST(TensorView, AShapeThatIsNoneHasNoCount) {
  constexpr auto max = std::numeric_limits<std::int64_t>::max();
  EXPECT_FALSE(numel(Shape{-1}));
  EXPECT_FALSE(numel(Shape{0, -1}));
  EXPECT_FALSE(numel(Shape{max, 2}));
  EXPECT_FALSE(numel(Shape{std::int64_t{1} << 32, std::int64_t{1} << 31}));
  EXPECT_EQ(numel(Shape{max, 2, 0}), 0);
  EXPECT_EQ(numel(Shape{max}), max);
}

TEST(TensorView, BytesDoNotOverflowEither) {
  EXPECT_EQ(byte_size(DType::f32, Shape{3, 5}), 60u);
  EXPECT_FALSE(byte_size(DType::f32, Shape{std::int64_t{1} << 61}));
  EXPECT_TRUE(byte_size(DType::u8, Shape{std::int64_t{1} << 61}));
}

TEST(TensorView, PrintsShapes) {
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_EQ(to_string(Shape{2, 384}), "[2, 384]");
}

TEST(TensorView, OnlyFloatingNumbersBecomeFloats) {
  const std::array<std::int64_t, 1> ids{7};
  const TensorView tensor{.name = "position_ids",
                          .dtype = DType::i64,
                          .shape = {1},
                          .bytes = std::as_bytes(std::span{ids})};
  EXPECT_THROW(to_floats(tensor), InputError);
}

TEST(TensorView, ASetMustBeConsistent) {
  const std::array<float, 2> numbers{1, 2};
  const auto bytes = std::as_bytes(std::span{numbers});
  std::vector<TensorView> tensors{{.name = "a", .shape = {2}, .bytes = bytes},
                                  {.name = "b", .shape = {1, 2}, .bytes = bytes}};
  EXPECT_NO_THROW(check_consistent(tensors, "f"));
  tensors[1].shape = {3};
  EXPECT_THROW(check_consistent(tensors, "f"), InputError);
  tensors[1] = tensors[0];
  EXPECT_THROW(check_consistent(tensors, "f"), InputError);
}

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
