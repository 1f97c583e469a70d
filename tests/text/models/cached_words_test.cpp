#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/models/cached_words.hpp>

namespace seqtrain::text {
namespace {

/// BytesOfWords whose ids are their bytes. It counts the words that the cache does not hold.
struct BytesOfWords {
  std::vector<std::string> texts;

  [[nodiscard]] std::size_t size() const { return texts.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t i) const { return texts[i]; }
  [[nodiscard]] WordKey key(std::size_t i) const {
    std::string padded = texts[i];
    padded.resize(padded.size() + 16);
    return WordKey::of_padded({padded.data(), texts[i].size()});
  }

  [[nodiscard]] std::string encode(CachedWords& cached, int& missed, std::size_t batch = 2,
                                   std::size_t limit = 1000) const {
    std::vector<Id> ids;
    const auto encode_word = [&](std::string_view word, const WordKey& key) {
      return cached.append_rare(word, key, ids, [&] {
        ++missed;
        ids.insert(ids.end(), word.begin(), word.end());
        return word != "?";
      });
    };
    cached.append_all(*this, batch, limit, encode_word, ids);
    return {ids.begin(), ids.end()};
  }
};

TEST(CachedWords, EncodesAWordOnce) {
  const CachedWords::Owner owner;
  CachedWords cached;
  cached.begin(owner);
  int missed = 0;
  const BytesOfWords words{
      {"a", "four", "many ids", "more than fifteen bytes", "four", "many ids", "a"}};
  const std::string all = "afourmany idsmore than fifteen bytesfourmany idsa";
  EXPECT_EQ(words.encode(cached, missed), all);
  EXPECT_EQ(missed, 4);
  EXPECT_EQ(words.encode(cached, missed, 7), all);
  EXPECT_EQ(missed, 4);
  EXPECT_EQ(words.encode(cached, missed, 2, 6), "afourmany idsmore than fifteen bytes");
}

TEST(CachedWords, ForgetsTheIdsOfAnotherOwner) {
  const CachedWords::Owner first, second;
  const CachedWords::Owner copy = first;
  CachedWords cached;
  const BytesOfWords words{{"a", "longer than a key is"}};
  int missed = 0;
  const auto misses = [&](const CachedWords::Owner& owner) {
    missed = 0;
    cached.begin(owner);
    static_cast<void>(words.encode(cached, missed));
    return missed;
  };
  EXPECT_EQ(misses(first), 2);
  EXPECT_EQ(misses(copy), 0);
  EXPECT_EQ(misses(second), 2);
  EXPECT_EQ(misses(first), 2);
}

TEST(CachedWords, StopsAtAWordThatCannotBeEncoded) {
  const CachedWords::Owner owner;
  CachedWords cached;
  cached.begin(owner);
  std::vector<Id> ids;
  const BytesOfWords words{{"a", "?", "b"}};
  std::vector<std::size_t> seen;
  const auto before = [&](std::size_t i, const auto& flush) {
    flush();
    seen.push_back(i);
  };
  const auto refuse = [](std::string_view word, const WordKey&) { return word != "?"; };
  EXPECT_FALSE(cached.append(words, 0, 3, before, refuse, ids));
  EXPECT_EQ(seen, (std::vector<std::size_t>{0, 1}));
  EXPECT_TRUE(cached.append(words, 2, 1, before, refuse, ids));
}

}  // namespace
}  // namespace seqtrain::text
