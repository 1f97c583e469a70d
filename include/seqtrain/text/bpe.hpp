#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/text/byte_level.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/merge_queue.hpp>
#include <seqtrain/text/merge_table.hpp>
#include <seqtrain/text/string_hash.hpp>

namespace seqtrain::text {

struct BpeOptions {
  /// Stands for bytes that the vocabulary lacks; without it they vanish.
  std::optional<std::string> unknown_token = {};
  bool fuse_unknown = false;   ///< neighbouring unknown bytes become one unknown token
  bool ignore_merges = false;  ///< a word that is in the vocabulary is one token at once
};

/// Byte pair encoding over bytes: a word begins as its bytes, and the pair of neighbours whose
/// merge has the lowest rank, the leftmost of equals, is merged until none is left. A token that
/// no merges lead to is never used.
class Bpe {
 public:
  using Entry = std::pair<std::string_view, Id>;
  using Pair = std::pair<std::string_view, std::string_view>;

  /// Tokens are written in `byte_symbols`, merges in the order of their ranks. Throws `InputError`
  /// where a merge speaks of a token that the vocabulary lacks, or makes one of over 65,535 bytes.
  explicit Bpe(std::span<const Entry> vocabulary, std::span<const Pair> merges,
               const BpeOptions& options = {})
      : merges_{merges.size()}, fuse_unknown_{options.fuse_unknown} {
    Ids ids(2 * vocabulary.size());
    for (const auto& [token, id] : vocabulary) ids.insert_or_assign(token, id);
    read_merges(merges, ids);
    read_symbols(ids, options.unknown_token);
    read_byte_merges();
    if (options.ignore_merges) read_words(ids);
  }

  /// Appends the ids of `word`, whatever its bytes.
  void encode_word(std::string_view word, std::vector<Id>& out) const {
    if (const auto whole = words_.find(word); whole != words_.end()) {
      return out.push_back(whole->second);
    }
    const bool plain = unique_results_ && !byte_merges_.empty();
    if (plain && !word.empty() && word.size() <= short_word) return encode_short(word, out);
    encode_long(word, out);
  }

  /// Returns how many bytes of a word a token stands for.
  [[nodiscard]] static std::size_t bytes_of(std::string_view token, bool) {
    return count_characters(token);
  }

 private:
  static constexpr Id absent = -1;
  static constexpr std::size_t short_word = 48;  ///< bytes up to which looking at all pairs wins
  using Ids = std::unordered_map<std::string_view, Id>;
  using Position = std::uint32_t;  ///< of a symbol in a long word, among those it began as
  using Span = std::uint16_t;      ///< how many of those a symbol has become of
  static constexpr std::size_t longest_token = std::numeric_limits<Span>::max();

  void read_merges(std::span<const Pair> merges, const Ids& ids) {
    const auto id = [&](std::string_view token, const Pair& merge) {
      const auto found = ids.find(token);
      if (found != ids.end()) return found->second;
      throw InputError{"the merge \"" + std::string{merge.first} + " " + std::string{merge.second} +
                       "\" needs the token \"" + std::string{token} +
                       "\", which the vocabulary lacks"};
    };
    std::unordered_set<Id> results(2 * merges.size());
    for (std::uint32_t rank = 0; rank < merges.size(); ++rank) {
      const Pair& merge = merges[rank];
      const std::string token = std::string{merge.first}.append(merge.second);
      if (token.size() > longest_token) {
        throw InputError{"merge " + std::to_string(rank + 1) + " makes a token of " +
                         std::to_string(token.size()) + " bytes; up to " +
                         std::to_string(longest_token) + " are supported"};
      }
      const Id result = id(token, merge);
      merges_.insert(id(merge.first, merge), id(merge.second, merge), {rank, result});
      results_.push_back(result);
      if (!results.insert(result).second) unique_results_ = false;
    }
  }

  void read_symbols(const Ids& ids, const std::optional<std::string>& unknown_token) {
    const auto id = [&](std::string_view token) {
      const auto found = ids.find(token);
      return found == ids.end() ? absent : found->second;
    };
    if (unknown_token && (unknown_ = id(*unknown_token)) == absent) {
      throw InputError{"the vocabulary has no unknown token " + *unknown_token};
    }
    for (std::size_t byte = 0; byte < symbols_.size(); ++byte) {
      symbols_[byte] = id(byte_symbols()[byte]);
    }
  }

  void read_byte_merges() {
    if (std::ranges::count(symbols_, absent) > 0) return;
    byte_merges_.reserve(256 * 256);
    for (const Id left : symbols_) {
      for (const Id right : symbols_) byte_merges_.push_back(merges_.find(left, right));
    }
  }

  /// The vocabulary in bytes; tokens with other characters than `byte_symbols` match no word.
  void read_words(const Ids& ids) {
    std::unordered_map<std::string_view, char> bytes;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      bytes[byte_symbols()[byte]] = static_cast<char>(byte);
    }
    for (const auto& [token, id] : ids) {
      std::string word;
      std::size_t begin = 0;
      for (std::size_t end = 0; end < token.size(); begin = end) {
        end += utf8_length(token[end]);
        const auto byte = bytes.find(token.substr(begin, end - begin));
        if (byte == bytes.end()) break;
        word.push_back(byte->second);
      }
      if (begin == token.size()) words_.emplace(std::move(word), id);
    }
  }

  /// Calls `fn(Id)` for each symbol that the word begins as.
  template <class Fn>
  void for_each_symbol(std::string_view word, Fn&& fn) const {
    bool after_unknown = false;
    for (const char byte : word) {
      const Id id = symbols_[static_cast<unsigned char>(byte)];
      const bool unknown = id == absent;
      if (!unknown) fn(id);
      if (unknown && unknown_ != absent && !(after_unknown && fuse_unknown_)) fn(unknown_);
      after_unknown = unknown;
    }
  }

  /// Looks at all pairs for each merge.
  void encode_short(std::string_view word, std::vector<Id>& out) const {
    std::array<Id, short_word> symbols;
    std::array<Merge, short_word> merges;  // merges[i] is that of symbol i and the next
    std::array<std::size_t, short_word> previous, next;
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(word[i]); };
    const std::size_t end = word.size();
    for (std::size_t i = 0; i < end; ++i) {
      symbols[i] = symbols_[byte(i)];
      merges[i] = i + 1 < end ? byte_merges_[std::size_t{256} * byte(i) + byte(i + 1)] : Merge{};
      previous[i] = i - 1;
      next[i] = i + 1;
    }
    const auto lower = [](const Merge& a, const Merge& b) { return a.rank < b.rank; };
    const auto find = [&](std::size_t i) { return merges_.find(symbols[i], symbols[next[i]]); };
    for (;;) {
      const auto* best = std::min_element(merges.data(), merges.data() + end, lower);
      if (best->rank == Merge::none) break;
      const auto at = static_cast<std::size_t>(best - merges.data());
      symbols[at] = best->result;
      merges[next[at]] = {};
      next[at] = next[next[at]];
      if (next[at] < end) previous[next[at]] = at;
      merges[at] = next[at] < end ? find(at) : Merge{};
      if (at > 0) merges[previous[at]] = find(previous[at]);
    }
    for (std::size_t i = 0; i < end; i = next[i]) out.push_back(symbols[i]);
  }

  /// Symbols and a queue of the merges that were possible when they were queued. A symbol is kept
  /// at the first place of its span, and the span at the first and at the last, where both
  /// neighbours look for it: half of a linked list's memory.
  class LongWord {
   public:
    LongWord(const Bpe& bpe, std::size_t bytes) : bpe_{bpe}, queue_{bytes} { ids_.reserve(bytes); }

    void add(Id id) { ids_.push_back(id); }

    void merge_all() {
      spans_.assign(ids_.size(), 1);
      for (Position i = 0; i + 1 < size(); ++i) queue_pair(i);
      while (!queue_.empty()) {
        const auto [rank, position] = queue_.pop();
        const Id result = bpe_.results_[rank];
        if (is_current(position, result)) merge(position, result);
      }
    }

    template <class Fn>
    void for_each(Fn&& fn) const {
      for (Position i = 0; i < size(); i = next(i)) fn(ids_[i]);
    }

   private:
    [[nodiscard]] Position size() const { return static_cast<Position>(ids_.size()); }
    [[nodiscard]] Position next(Position position) const { return position + spans_[position]; }
    [[nodiscard]] Position previous(Position position) const {
      return position - spans_[position - 1];
    }

    [[nodiscard]] Merge merge_at(Position position) const {
      return bpe_.merges_.find(ids_[position], ids_[next(position)]);
    }

    void queue_pair(Position position) {
      if (const Merge found = merge_at(position); found.rank != Merge::none) {
        queue_.push({found.rank, position});
      }
    }

    /// Whether the two symbols still merge to the same. Their own merge may have another rank by
    /// now, if several pairs give that result; the reference takes the queued one all the same.
    [[nodiscard]] bool is_current(Position position, Id result) const {
      if (ids_[position] == absent || next(position) >= size()) return false;
      const Merge now = merge_at(position);
      return now.rank != Merge::none && now.result == result;
    }

    void merge(Position position, Id result) {
      const Position right = next(position);
      const Position end = next(right);
      ids_[position] = result;
      ids_[right] = absent;
      spans_[position] = spans_[end - 1] = static_cast<Span>(end - position);
      if (position > 0) queue_pair(previous(position));
      if (end < size()) queue_pair(position);
    }

    const Bpe& bpe_;
    std::vector<Id> ids_;
    std::vector<Span> spans_;
    MergeQueue queue_;
  };

  void encode_long(std::string_view word, std::vector<Id>& out) const {
    if (word.size() >= std::numeric_limits<Position>::max()) {
      throw InputError{"a word of " + std::to_string(word.size()) +
                       " bytes; words of 4 GiB and more are not supported"};
    }
    LongWord symbols{*this, word.size()};
    for_each_symbol(word, [&](Id id) { symbols.add(id); });
    symbols.merge_all();
    symbols.for_each([&](Id id) { out.push_back(id); });
  }

  MergeTable merges_;
  std::vector<Id> results_;  ///< of each rank
  std::array<Id, 256> symbols_{};
  std::vector<Merge> byte_merges_;  ///< [256 * 256], of two bytes; empty where one has no symbol
  Id unknown_ = absent;
  bool fuse_unknown_;
  bool unique_results_ = true;  ///< no two merges have the same result
  std::unordered_map<std::string, Id, StringHash, std::equal_to<>> words_;  ///< for ignore_merges
};

}  // namespace seqtrain::text
