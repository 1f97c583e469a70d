#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/long_word_cache.hpp>
#include <seqtrain/text/word_table.hpp>

namespace seqtrain::text {
namespace {

const WordTable::Entry* find(const WordTable& table, const std::string& word) {
  const WordKey key = WordKey::of(word);
  return table.find(key, table.place(key));
}

TEST(WordTable, FindsWhatItRememberedWhileItGrows) {
  WordTable table;
  table.reset();
  constexpr Id words = 50'000;
  for (Id i = 0; i < words; ++i) {
    const std::string word = "w" + std::to_string(i);
    ASSERT_EQ(find(table, word), nullptr);
    table.insert(WordKey::of(word), std::array{i, -i});
    ASSERT_NE(find(table, word), nullptr) << word;
  }
  for (Id i = 0; i < words; ++i) {
    const auto* entry = find(table, "w" + std::to_string(i));
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->count(), 2u);
    EXPECT_EQ(entry->ids[0], i);
    EXPECT_EQ(entry->ids[1], -i);
  }
}

TEST(WordTable, KnowsWordsWithZeroBytesAndNoIdsApart) {
  WordTable table;
  table.reset();
  table.insert(WordKey::of(std::string(1, '\0')), {});
  ASSERT_NE(find(table, std::string(1, '\0')), nullptr);
  EXPECT_EQ(find(table, std::string(1, '\0'))->count(), 0u);
  EXPECT_EQ(find(table, std::string(2, '\0')), nullptr);
  table.insert(WordKey::of("five"), std::array{1, 2, 3, 4, 5});
  EXPECT_EQ(find(table, "five"), nullptr);
}

TEST(WordTable, BeginsAnewWhenItIsFull) {
  WordTable table;
  table.reset();
  for (Id i = 0; i < 400'000; ++i) {
    table.insert(WordKey::of(std::to_string(i)), std::array{i});
    ASSERT_NE(find(table, std::to_string(i)), nullptr);
  }
  EXPECT_EQ(find(table, "0"), nullptr);
}

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
