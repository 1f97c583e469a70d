#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/models/merge_table.hpp>
#include <seqtrain/text/models/merging_word.hpp>
#include <seqtrain/text/models/string_hash.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// Options of `Bpe`.
struct BpeOptions {
  /// The token for bytes that the vocabulary lacks. Without it such bytes are dropped.
  std::optional<std::string> unknown_token = {};
  bool fuse_unknown = false;  ///< neighbouring unknown bytes become one unknown token
  /// A word that is in the vocabulary becomes one token without merges.
  bool ignore_merges = false;
};

/// Byte pair encoding over bytes. A word begins as its bytes. The pair of neighbours with the merge
/// of lowest rank is merged, the leftmost first, until no pair can be merged. A token that no
/// merges lead to is never used.
class Bpe {
 public:
  using Entry = std::pair<std::string_view, Id>;
  using Pair = std::pair<std::string_view, std::string_view>;

  /// Tokens are written in `byte_symbols`; merges are in the order of their ranks. Throws
  /// `InputError` if a merge uses a token that the vocabulary lacks, or makes a token of more than
  /// 65,535 bytes.
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

  /// Appends the ids of `word`, which may hold any bytes.
  void encode_word(std::string_view word, std::vector<Id>& out) const {
    if (const auto whole = words_.find(word); whole != words_.end()) {
      return out.push_back(whole->second);
    }
    const bool plain = unique_results_ && !byte_merges_.empty();
    if (plain && !word.empty() && word.size() <= short_word) return encode_short(word, out);
    encode_long(word, out);
  }

  /// Returns the number of bytes that a token stands for.
  [[nodiscard]] static std::size_t bytes_of(std::string_view token, bool) {
    return count_characters(token);
  }

 private:
  static constexpr Id absent = -1;
  /// In bytes; up to this size a scan of all pairs is faster than a queue.
  static constexpr std::size_t short_word = 48;
  using Ids = std::unordered_map<std::string_view, Id>;
  static constexpr std::size_t longest_token = MergingWord::longest_token;

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
    byte_merges_.reserve(std::size_t{256} * 256);
    for (const Id left : symbols_) {
      for (const Id right : symbols_) byte_merges_.push_back(merges_.find(left, right));
    }
  }

  /// Maps the words of the vocabulary, in bytes, to their ids. Tokens with characters outside
  /// `byte_symbols` match no word.
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

  /// Encodes a short word by a scan of all pairs for each merge.
  void encode_short(std::string_view word, std::vector<Id>& out) const {
    std::array<Id, short_word> symbols;
    std::array<Merge, short_word> merges;  // merges[i] is the merge of symbol i with the next one.
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

  void encode_long(std::string_view word, std::vector<Id>& out) const {
    if (word.size() >= MergingWord::max_symbols) {
      throw InputError{"a word of " + std::to_string(word.size()) +
                       " bytes; words of 4 GiB and more are not supported"};
    }
    MergingWord symbols{merges_, results_, word.size()};
    for_each_symbol(word, [&](Id id) { symbols.add(id); });
    symbols.merge_all();
    symbols.for_each([&](Id id) { out.push_back(id); });
  }

  MergeTable merges_;
  std::vector<Id> results_;  ///< ids of the merged tokens, by rank
  std::array<Id, 256> symbols_{};
  /// [256 * 256] merges of two bytes; empty if a byte has no symbol.
  std::vector<Merge> byte_merges_;
  Id unknown_ = absent;
  bool fuse_unknown_;
  bool unique_results_ = true;  ///< no two merges have the same result
  /// Used if `ignore_merges` is set.
  std::unordered_map<std::string, Id, StringHash, std::equal_to<>> words_;
};

}  // namespace seqtrain::text
