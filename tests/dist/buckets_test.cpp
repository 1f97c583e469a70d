#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <seqtrain/dist/buckets.hpp>

#include "support/problem_of.hpp"

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
  EXPECT_EQ(begins, (std::vector<std::int64_t>{0, 12}));
  EXPECT_EQ(counts, (std::vector<std::int64_t>{12, 7}));
  EXPECT_EQ(buckets[1].pieces.back().parameter, Piece::losses);
}

TEST(Buckets, TakeLateParametersAfterTheOthers) {
  std::vector<tensor::Parameter> parameters{parameter(5, 4), parameter(1, 3), parameter(2, 2)};
  parameters[1].late = true;
  Buckets buckets;
  buckets.cut_dense(parameters);
  ASSERT_EQ(buckets.size(), 1U);
  EXPECT_EQ(buckets[0].count, 24);
  buckets.cut_others(parameters, 7);
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_EQ(buckets[1].count, 10);
  EXPECT_EQ(buckets[1].pieces.front().parameter, 1U);
}

tensor::RowSet set_of(std::size_t size, const std::vector<std::size_t>& rows) {
  tensor::RowSet set{size};
  for (const std::size_t row : rows) set.insert(row);
  return set;
}

std::vector<std::size_t> rows_of(const tensor::RowSet& set) {
  std::vector<std::size_t> rows;
  set.for_each_run([&](std::size_t first, std::size_t end) {
    for (std::size_t row = first; row < end; ++row) rows.push_back(row);
  });
  return rows;
}

TEST(RowRuns, ComeOutAsTheyWentIn) {
  std::string message{"#"};
  append_runs(message, set_of(9, {1, 2, 3, 8}));
  append_runs(message, set_of(4, {}));
  append_runs(message, set_of(4, {0}));
  std::size_t at = 1;
  tensor::RowSet first = set_of(9, {5}), second = set_of(4, {}), third = set_of(4, {});
  insert_runs(message, at, first);
  insert_runs(message, at, second);
  insert_runs(message, at, third);
  EXPECT_EQ(at, message.size());
  EXPECT_EQ(rows_of(first), (std::vector<std::size_t>{1, 2, 3, 5, 8}));
  EXPECT_TRUE(rows_of(second).empty());
  EXPECT_EQ(rows_of(third), (std::vector<std::size_t>{0}));
}

TEST(RowRuns, AreCheckedBeforeTheyAreInserted) {
  std::string message;
  append_runs(message, set_of(9, {1, 8}));
  std::size_t at = 0;
  tensor::RowSet smaller = set_of(8, {});
  EXPECT_THROW(insert_runs(message, at, smaller), Error);
  for (std::size_t size = 0; size < message.size(); ++size) {
    tensor::RowSet set = set_of(9, {});
    at = 0;
    EXPECT_THROW(insert_runs(message.substr(0, size), at, set), Error) << size;
  }
}

}  // namespace
}  // namespace seqtrain::dist
