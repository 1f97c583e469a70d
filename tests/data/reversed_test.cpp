#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/reversed.hpp>

namespace seqtrain::data {
namespace {

TEST(Reversed, TurnsIdsRoundAndKeepsTheRest) {
  EncodedSet set{10, 1, 2};
  set.push_back(std::vector<std::int32_t>{2, 3, 4}, 3, 0, std::vector<float>{1, 0});
  set.push_back(std::vector<std::int32_t>{}, 0, 1, std::vector<float>{0, 1});
  const auto turned = reversed(set);
  ASSERT_EQ(turned.size(), 2U);
  std::vector<std::int32_t> ids(3);
  turned.copy_row(0, ids.data());
  EXPECT_EQ(ids, (std::vector<std::int32_t>{4, 3, 2}));
  EXPECT_EQ(turned.length(1), 0U);
  EXPECT_EQ(turned.label(1), 1);
  EXPECT_EQ(turned.targets(1)[1], 1);
  EXPECT_EQ(turned.pad_id(), 1);
}

}  // namespace
}  // namespace seqtrain::data
