#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/predict/predictor.hpp>

namespace seqtrain::predict {
namespace {

TEST(ToBatch, PadsTextsToTheLongest) {
  const std::vector<Encoded> texts{{.input_ids = {5, 6, 7}, .first_segment = 2},
                                   {.input_ids = {8}, .first_segment = 1}};
  const auto batch = to_batch(texts, 9);
  EXPECT_EQ(batch.rows, 2);
  EXPECT_EQ(batch.width, 3);
  EXPECT_EQ(batch.input_ids, (std::vector<std::int32_t>{5, 6, 7, 8, 9, 9}));
  EXPECT_EQ(batch.token_type_ids, (std::vector<std::int32_t>{0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(batch.lengths, (std::vector<std::int32_t>{3, 1}));
  EXPECT_EQ(batch.labels, (std::vector<std::int64_t>{-1, -1}));
  EXPECT_EQ(batch.row_ids, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(batch.tokens(), 4);
}

}  // namespace
}  // namespace seqtrain::predict
