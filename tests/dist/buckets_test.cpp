#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <seqtrain/dist/buckets.hpp>

namespace seqtrain::dist {
namespace {

constexpr std::int64_t full = std::int64_t{1} << 20;

tensor::Parameter parameter(std::int64_t rows, std::int64_t width) {
  return {.name = "p", .value = {}, .gradient = at::zeros({rows, width})};
}

TEST(Buckets, TakeParametersFromTheLastToTheFirst) {
  const std::vector<tensor::Parameter> parameters{parameter(3, full / 2), parameter(1, 10)};
  Buckets buckets;
  buckets.cut_dense(parameters);
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_EQ(buckets[0].count, full);
  EXPECT_EQ(buckets[0].pieces.front().parameter, 1U);
  EXPECT_EQ(buckets[0].pieces.back().count, full - 10);
  EXPECT_EQ(buckets[1].pieces.front().begin, full - 10);
  EXPECT_EQ(buckets[1].count, full / 2 + 10);
  buckets.cut_dense({});
  EXPECT_EQ(buckets.size(), 0U);
}

TEST(Buckets, TakeTheUsedRowsOfTablesAndTheLosses) {
  std::vector<tensor::Parameter> parameters{parameter(5, 4), parameter(1, 3)};
  parameters[0].touched = std::make_shared<tensor::RowSet>(5);
  for (const std::size_t row : {0, 3, 4}) parameters[0].touched->insert(row);
  Buckets buckets;
  buckets.cut_dense(parameters);
  buckets.cut_others(parameters, 7);
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_EQ(buckets[0].count, 3);
  std::vector<std::int64_t> begins, counts;
  const at::Tensor numbers = at::arange(buckets[1].count);
  buckets[1].for_each_piece(numbers, [&](const Piece& piece, const at::Tensor& elements) {
    begins.push_back(elements[0].item<std::int64_t>());
    counts.push_back(piece.count);
  });
  EXPECT_EQ(begins, (std::vector<std::int64_t>{0, 4, 12}));
  EXPECT_EQ(counts, (std::vector<std::int64_t>{4, 8, 7}));
  EXPECT_EQ(buckets[1].pieces.back().parameter, Piece::losses);
}

}  // namespace
}  // namespace seqtrain::dist
