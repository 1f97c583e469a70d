#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/models/word_cache.hpp>

namespace seqtrain::text {
namespace {

using Ids = std::vector<Id>;

Ids found(WordCache& cache, std::string_view word) {
  const auto* entry = cache.find(WordKey::of(word));
  if (!entry) return {-1};
  return {entry->ids.begin(), entry->ids.begin() + static_cast<std::ptrdiff_t>(entry->count())};
}

TEST(WordKey, TellsWordsApartThatPaddingWouldNot) {
  using namespace std::string_view_literals;
  EXPECT_FALSE(WordKey::of("a").same_word(WordKey::of("a\0"sv)));
  EXPECT_FALSE(WordKey::of("\0"sv).same_word(WordKey{}));
  EXPECT_FALSE(WordKey::of("abcdefgh").same_word(WordKey::of("abcdefg")));
  EXPECT_TRUE(WordKey::of("fifteen letters").same_word(WordKey::of("fifteen letters")));
}

TEST(WordKey, LooksNoFurtherThanTheWord) {
  const std::string text = "words go on past the end of it";
  for (std::size_t size = 1; size <= WordKey::max_bytes; ++size) {
    const std::string_view word = std::string_view{text}.substr(0, size);
    EXPECT_TRUE(WordKey::of_padded(word).same_word(WordKey::of(word))) << size;
  }
}

TEST(WordKey, OfManyWordsAreThoseOfEach) {
  std::string bytes;
  std::vector<std::uint16_t> begins, ends;
  for (std::size_t size = 1; size < 40; ++size) {
    begins.push_back(static_cast<std::uint16_t>(bytes.size()));
    for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(1 + 7 * (size + 3 * i) % 255);
    ends.push_back(static_cast<std::uint16_t>(bytes.size()));
  }
  bytes.resize(bytes.size() + 16);
  const WordPositions words{bytes.data(), begins.data(), ends.data()};
  for (std::size_t first = 0; first <= begins.size(); ++first) {
    for (std::size_t end = first; end <= begins.size(); ++end) {
      std::vector<WordKey> keys(end - first + 7);
      std::vector<std::uint64_t> hashes(end - first + 7);
      WordKey::write(words, first, end, keys.data(), hashes.data());
      for (std::size_t i = first; i < end; ++i) {
        ASSERT_TRUE(keys[i - first].same_word(WordKey::of_padded(words[i]))) << i;
        ASSERT_EQ(keys[i - first].spare(), 0u);
        ASSERT_EQ(hashes[i - first], keys[i - first].hash()) << i;
      }
    }
  }
}

TEST(WordCache, RemembersUpToFourIds) {
  WordCache cache;
  cache.reset();
  cache.insert(WordKey::of("one"), Ids{1});
  cache.insert(WordKey::of("four"), Ids{1, 2, 3, 4});
  cache.insert(WordKey::of("none"), Ids{});
  EXPECT_EQ(found(cache, "one"), Ids{1});
  EXPECT_EQ(found(cache, "four"), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(found(cache, "none"), Ids{});
  EXPECT_EQ(found(cache, "six"), Ids{-1});
  cache.reset();
  EXPECT_EQ(found(cache, "one"), Ids{-1});
}

TEST(WordCache, NeverAnswersForALongWord) {
  WordCache cache;
  cache.reset();
  const std::string text(32, 'x');
  EXPECT_EQ(cache.find(WordKey::of_padded({text.data(), 16})), nullptr);
  EXPECT_EQ(cache.find(WordKey::of_padded({text.data(), 30})), nullptr);
}

TEST(WordCache, FindsWhatItRememberedWhileItGrows) {
  WordCache cache;
  cache.reset();
  constexpr Id words = 50'000;
  for (Id id = 0; id < words; ++id) {
    const std::string word = "w" + std::to_string(id);
    ASSERT_EQ(found(cache, word), Ids{-1});
    cache.insert(WordKey::of(word), Ids{id, words});
    ASSERT_EQ(found(cache, word), (Ids{id, words}));
  }
  for (Id id = 0; id < words; ++id) {
    ASSERT_EQ(found(cache, "w" + std::to_string(id)), (Ids{id, words}));
  }
}

TEST(WordCache, BeginsAnewWhenItIsFull) {
  WordCache cache;
  cache.reset();
  for (Id id = 0; id < 1'000'000; ++id) {
    cache.insert(WordKey::of("w" + std::to_string(id)), Ids{id});
    ASSERT_EQ(found(cache, "w" + std::to_string(id)), Ids{id});
  }
  EXPECT_EQ(found(cache, "w0"), Ids{-1});
}

TEST(WordCache, MayBeAskedAtAPlaceFromBeforeItGrew) {
  WordCache cache;
  cache.reset();
  const WordKey key = WordKey::of("word");
  const std::size_t place = cache.place(key);
  cache.insert(key, Ids{7});
  for (Id id = 0; id < 50'000; ++id) cache.insert(WordKey::of(std::to_string(id)), Ids{id});
  const auto* entry = cache.find(key, place);
  EXPECT_TRUE(entry == nullptr || entry->ids[0] == 7);
  EXPECT_EQ(found(cache, "word"), Ids{7});
}

}  // namespace
}  // namespace seqtrain::text
