#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/long_word_cache.hpp>

namespace seqtrain::text {
namespace {

TEST(LongWordCache, FindsWhatItRememberedLast) {
  LongWordCache cache;
  cache.reset();
  const std::string longest(LongWordCache::max_bytes, 'x');
  cache.insert(longest, std::array{1, 2});
  ASSERT_EQ(cache.find(longest).size(), 2u);
  EXPECT_EQ(cache.find(longest)[1], 2);
  EXPECT_TRUE(cache.find(longest.substr(1)).empty());
  cache.insert(longest + "x", std::array{1});
  EXPECT_TRUE(cache.find(longest + "x").empty());
  cache.insert("many", std::vector<Id>(LongWordCache::max_ids + 1));
  EXPECT_TRUE(cache.find("many").empty());
}

}  // namespace
}  // namespace seqtrain::text
