#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/train/rows.hpp>

namespace seqtrain::train {
namespace {

struct WithIds {
  std::vector<std::int64_t> row_ids;
};
struct Without {
  std::int64_t rows;
};

TEST(DescribeRows, NamesThemWhereTheBatchesTell) {
  const std::vector<WithIds> batches{{{3, 17}}, {{4}}};
  EXPECT_EQ(describe_rows(std::span{batches}), "rows 3, 17, 4");
  const std::vector<Without> untold{{2}, {3}};
  EXPECT_EQ(describe_rows(std::span{untold}), "5 rows");
}

TEST(DescribeRows, IsNotEndless) {
  const std::vector<WithIds> batches{{std::vector<std::int64_t>(1000, 7)}};
  const auto text = describe_rows(std::span{batches});
  EXPECT_LT(text.size(), 300U);
  EXPECT_TRUE(text.ends_with("7, … (1000 of them)")) << text;
}

}  // namespace
}  // namespace seqtrain::train
