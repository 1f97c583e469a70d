#include <gtest/gtest.h>

#include <seqtrain/core/text_similarity.hpp>

namespace seqtrain {
namespace {

TEST(EditDistance, CountsChanges) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("billing", "biling"), 1U);
  EXPECT_EQ(edit_distance("billing ", "billing"), 1U);
}

TEST(EditDistance, CountsSwappedNeighboursOnce) {
  EXPECT_EQ(edit_distance("epcohs", "epochs"), 1U);
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);
}

}  // namespace
}  // namespace seqtrain
