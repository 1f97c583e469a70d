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
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/models/merge_table.hpp>
#include <seqtrain/text/models/merging_word.hpp>
#include <seqtrain/text/models/string_hash.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// Options of `CharacterBpe`.
struct CharacterBpeOptions {
  std::optional<std::string> unknown_token = {};  ///< without it unknown characters are dropped
  std::string continuing_prefix = {};             ///< marks tokens that do not begin a word
  std::string end_suffix = {};                    ///< marks tokens that end a word
  bool fuse_unknown = false;   ///< neighbouring unknown characters become one token
  bool byte_fallback = false;  ///< an unknown character becomes the tokens of its bytes
  /// A word that is in the vocabulary becomes one token without merges.
  bool ignore_merges = false;
};

/// Byte pair encoding over characters, as in SentencePiece models and in the first BPE models.
class CharacterBpe {
 public:
  using Entry = std::pair<std::string_view, Id>;
  using Pair = std::pair<std::string_view, std::string_view>;

  /// Merges are in the order of their ranks. Throws `InputError` if a merge uses a token that the
  /// vocabulary lacks.
  CharacterBpe(std::span<const Entry> vocabulary, std::span<const Pair> merges,
               CharacterBpeOptions options)
      : options_{std::move(options)}, merges_{merges.size()} {
    for (const auto& [token, id] : vocabulary) ids_.insert_or_assign(std::string{token}, id);
    if (options_.unknown_token) unknown_ = at(*options_.unknown_token, "unknown token");
    for (std::uint32_t rank = 0; rank < merges.size(); ++rank) read_merge(merges[rank], rank);
    constexpr std::string_view digits = "0123456789ABCDEF";
    for (std::size_t byte = 0; byte < bytes_.size(); ++byte) {
      bytes_[byte] = find(std::string{"<0x"} + digits[byte / 16] + digits[byte % 16] + ">");
    }
  }

  /// Appends the ids of `word`, which must be valid UTF-8.
  void encode_word(std::string_view word, std::vector<Id>& out) const {
    if (options_.ignore_merges) {
      if (const Id whole = find(word); whole != absent) return out.push_back(whole);
    }
    if (word.size() >= MergingWord::max_symbols) {
      throw InputError{"words of 4 GiB and more are not supported"};
    }
    MergingWord symbols{merges_, results_, word.size()};
    add_symbols(word, symbols);
    symbols.merge_all();
    symbols.for_each([&](Id id) { out.push_back(id); });
  }

 private:
  static constexpr Id absent = -1;

  [[nodiscard]] Id find(std::string_view token) const {
    const auto found = ids_.find(token);
    return found == ids_.end() ? absent : found->second;
  }

  [[nodiscard]] Id at(std::string_view token, const std::string& role) const {
    if (const Id id = find(token); id != absent) return id;
    throw InputError{"the vocabulary has no " + role + " \"" + std::string{token} + "\""};
  }

  void read_merge(const Pair& merge, std::uint32_t rank) {
    const std::size_t skipped = options_.continuing_prefix.size();
    const auto right = merge.second.substr(std::min(skipped, merge.second.size()));
    const std::string token = std::string{merge.first}.append(right);
    const std::string role = "token of merge " + std::to_string(rank + 1);
    if (token.size() > MergingWord::longest_token) {
      throw InputError{"the " + role + " is longer than 65,535 bytes"};
    }
    const Id result = at(token, role);
    merges_.insert(at(merge.first, role), at(merge.second, role), {rank, result});
    results_.push_back(result);
  }

  void add_symbols(std::string_view word, MergingWord& symbols) const {
    bool unknown_waits = false;
    const auto add_waiting = [&] {
      if (std::exchange(unknown_waits, false)) symbols.add(unknown_);
    };
    std::string symbol;
    for (std::size_t i = 0; i < word.size();) {
      const std::size_t size = utf8_length(word[i]);
      symbol.clear();
      if (i > 0) symbol += options_.continuing_prefix;
      symbol += word.substr(i, size);
      i += size;
      if (i == word.size()) symbol += options_.end_suffix;
      if (const Id id = find(symbol); id != absent) {
        add_waiting();
        symbols.add(id);
      } else if (options_.byte_fallback && has_bytes(symbol)) {
        for (const char c : symbol) symbols.add(byte_id(c));  // keeps a pending unknown token open
      } else if (unknown_ != absent) {
        if (!options_.fuse_unknown) add_waiting();
        unknown_waits = true;
      }
    }
    add_waiting();
  }

  [[nodiscard]] Id byte_id(char c) const { return bytes_[static_cast<unsigned char>(c)]; }
  [[nodiscard]] bool has_bytes(std::string_view text) const {
    return std::ranges::all_of(text, [&](char c) { return byte_id(c) != absent; });
  }

  CharacterBpeOptions options_;
  std::unordered_map<std::string, Id, StringHash, std::equal_to<>> ids_;
  MergeTable merges_;
  std::vector<Id> results_;  ///< ids of the merged tokens, by rank
  std::array<Id, 256> bytes_{};
  Id unknown_ = absent;
};

}  // namespace seqtrain::text
