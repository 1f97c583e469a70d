#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <seqtrain/core/random.hpp>

namespace seqtrain::data {

/// Two hashes of a text or a pair. They ignore case, punctuation and spaces.
struct TextKey {
  std::uint64_t words = 0;  ///< hash of all words in their order
  /// A hash that differs in few bits if few words differ (Charikar 2002). It is 0 for texts of
  /// fewer than 20 words, in which a single word may change the meaning.
  std::uint64_t similar = 0;
};

namespace detail {

inline bool in_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (byte >= '0' && byte <= '9') ||
         ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

/// Appends a hash of each word, in lower case.
inline void append_words(std::string_view text, std::vector<std::uint64_t>& words) {
  std::string word;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && in_word(text[i])) {
      const char c = text[i];
      word += c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    } else if (!word.empty()) {
      words.push_back(std::hash<std::string_view>{}(word));
      word.clear();
    }
  }
}

/// Returns a hash in which each bit has the value that most hashes of three consecutive words have.
inline std::uint64_t similar_hash(std::span<const std::uint64_t> words) {
  std::array<int, 64> votes{};
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::uint64_t hash = random::mix(words[i - 2], words[i - 1], words[i]);
    for (std::size_t bit = 0; bit < 64; ++bit) votes[bit] += (hash >> bit & 1) != 0 ? 1 : -1;
  }
  std::uint64_t result = 0;
  for (std::size_t bit = 0; bit < 64; ++bit) result |= std::uint64_t{votes[bit] > 0} << bit;
  return result;
}

/// Items by hashes, in which similar hashes are found: those that differ in at most three bits
/// agree in at least one of four quarters.
class SimilarHashes {
 public:
  /// Calls `use(item)` for the items that were added with a similar hash, for some of them several
  /// times. A hash of 0 is similar to none.
  template <class Use>
  void for_each(std::uint64_t hash, const Use& use) const {
    for (unsigned quarter = 0; quarter < 4 && hash != 0; ++quarter) {
      const auto others = quarters_.find(quarter_of(hash, quarter));
      if (others == quarters_.end()) continue;
      for (const auto& [other, item] : others->second) {
        if (std::popcount(hash ^ other) <= most_bits) use(item);
      }
    }
  }

  /// Adds an item. Of those that share a quarter of their hashes only the first 20 are found.
  void add(std::uint64_t hash, std::size_t item) {
    for (unsigned quarter = 0; quarter < 4 && hash != 0; ++quarter) {
      auto& others = quarters_[quarter_of(hash, quarter)];
      if (others.size() < most_compared) others.emplace_back(hash, item);
    }
  }

 private:
  static constexpr int most_bits = 3;
  static constexpr std::size_t most_compared = 20;

  /// Returns a quarter of a hash with its number.
  static std::uint64_t quarter_of(std::uint64_t hash, unsigned quarter) {
    return (hash >> (16 * quarter) & 0xFFFF) | std::uint64_t{quarter} << 16;
  }

  std::unordered_map<std::uint64_t, std::vector<std::pair<std::uint64_t, std::size_t>>> quarters_;
};

/// Disjoint sets that can be joined: each item leads to the first item of its set.
class Groups {
 public:
  explicit Groups(std::size_t items) : first_(items) {
    std::iota(first_.begin(), first_.end(), std::size_t{0});
  }
  std::size_t find(std::size_t item) {
    while (first_[item] != item) item = first_[item] = first_[first_[item]];
    return item;
  }
  void join(std::size_t a, std::size_t b) {
    a = find(a);
    b = find(b);
    first_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> first_;
};

}  // namespace detail

/// Returns the key of a text or a pair, which is equal for nearly equal ones.
[[nodiscard]] inline TextKey text_key(std::string_view text,
                                      std::optional<std::string_view> pair = {}) {
  constexpr std::size_t long_text = 20;
  std::vector<std::uint64_t> words;
  detail::append_words(text, words);
  if (words.empty()) words.push_back(std::hash<std::string_view>{}(text));  // such as :)
  if (pair) {
    words.push_back(1);  // marks the start of the second text
    detail::append_words(*pair, words);
  }
  TextKey key{.words = words.size()};
  for (const std::uint64_t word : words) key.words = random::mix(key.words, word);
  if (words.size() >= long_text) key.similar = detail::similar_hash(words);
  return key;
}

/// Returns the groups of two or more texts that are equal apart from case, punctuation and spaces,
/// or that are long and differ in a few words. A group holds indexes into `keys`, ascending.
[[nodiscard]] inline std::vector<std::vector<std::size_t>> near_equal(
    std::span<const TextKey> keys) {
  detail::Groups groups{keys.size()};
  std::unordered_map<std::uint64_t, std::size_t> equal;
  detail::SimilarHashes similar;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    groups.join(i, equal.emplace(keys[i].words, i).first->second);
    similar.for_each(keys[i].similar, [&](std::size_t other) { groups.join(i, other); });
    similar.add(keys[i].similar, i);
  }
  std::unordered_map<std::size_t, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < keys.size(); ++i) members[groups.find(i)].push_back(i);
  std::vector<std::vector<std::size_t>> result;
  for (auto& [first, items] : members) {
    if (items.size() > 1) result.push_back(std::move(items));
  }
  std::ranges::sort(result);
  return result;
}

/// Returns the number of texts of `dev` that equal a text of `train` as `near_equal` compares them.
[[nodiscard]] inline std::size_t count_near_equal(std::span<const TextKey> train,
                                                  std::span<const TextKey> dev) {
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> equal;
  detail::SimilarHashes similar;
  for (std::size_t i = 0; i < dev.size(); ++i) {
    equal[dev[i].words].push_back(i);
    similar.add(dev[i].similar, i);
  }
  std::vector<bool> found(dev.size());
  for (const TextKey& key : train) {
    if (const auto same = equal.find(key.words); same != equal.end()) {
      for (const std::size_t i : same->second) found[i] = true;
      equal.erase(same);
    }
    similar.for_each(key.similar, [&](std::size_t i) { found[i] = true; });
  }
  return static_cast<std::size_t>(std::ranges::count(found, true));
}

}  // namespace seqtrain::data
