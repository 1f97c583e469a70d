#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/models/long_word_cache.hpp>

namespace seqtrain::text {
namespace {

TEST(LongWordCache, FindsWhatItRemembered) {
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
  cache.reset();
  EXPECT_TRUE(cache.find(longest).empty());
}

TEST(LongWordCache, TakesNoMemoryForAKnownWord) {
  LongWordCache cache;
  cache.reset();
  cache.insert("the first word of all", std::array{7});
  for (int i = 0; i < 200'000; ++i) cache.insert("again and again", std::array{1});
  EXPECT_FALSE(cache.find("the first word of all").empty());  // The cache has not been emptied.
}

/// Inserts words that differ by a number and returns how many of them are still cached.
std::size_t known_of(std::size_t count, std::size_t ids_a_word) {
  LongWordCache cache;
  cache.reset();
  const auto word = [](std::size_t i) { return "a word with the number " + std::to_string(i); };
  std::vector<Id> ids(ids_a_word);
  for (std::size_t i = 0; i < count; ++i) {
    ids.back() = static_cast<Id>(i);
    cache.insert(word(i), ids);
  }
  std::size_t known = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto found = cache.find(word(i));
    if (found.empty()) continue;
    EXPECT_EQ(found.size(), ids_a_word);
    EXPECT_EQ(found.back(), static_cast<Id>(i));
    ++known;
  }
  return known;
}

TEST(LongWordCache, KeepsManyWordsAndThenBeginsAnew) {
  EXPECT_EQ(known_of(50'000, 10), 50'000u);
  const std::size_t short_ones = known_of(200'000, 1);  // exceeds the limit of the table
  EXPECT_GT(short_ones, 0u);
  EXPECT_LT(short_ones, 110'000u);
  const std::size_t long_ones = known_of(20'000, 200);  // exceeds the limit of the memory
  EXPECT_GT(long_ones, 0u);
  EXPECT_LT(long_ones, 11'000u);
}

}  // namespace
}  // namespace seqtrain::text
