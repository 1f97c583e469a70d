#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/models/double_array.hpp>
#include <seqtrain/text/models/sentence_pieces.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// Cuts a text by byte pair encoding as SentencePiece does. While two neighbours form a piece, the
/// pair with the greatest score is merged, the leftmost first. A merged piece of type "unused" is
/// split again. User-defined symbols are never merged.
class SentencePieceBpe {
  struct Symbol {
    std::string_view text;  ///< empty if it was merged into the symbol on its left
    std::uint32_t previous;
    std::uint32_t next;
    bool frozen;
  };
  struct Pair {
    std::uint64_t order;  ///< the least goes first
    std::uint32_t left;
    std::uint32_t right;
    std::size_t size;
  };
  using Halves = std::pair<std::string_view, std::string_view>;

 public:
  /// One thread's working memory.
  class Scratch {
    friend SentencePieceBpe;

    std::vector<Symbol> symbols_;
    std::vector<Pair> queue_;
    /// The two parts that a piece was merged from.
    std::unordered_map<std::string_view, Halves> unused_;
  };

  /// Appends the pieces of `text`, which must be valid UTF-8 of less than 4 GiB.
  void cut(std::string_view text, const SentencePieces& pieces, Scratch& scratch,
           std::vector<PieceOfText>& out) const {
    if (text.empty()) return;
    read_symbols(text, pieces, scratch);
    auto& queue = scratch.queue_;
    const auto& symbols = scratch.symbols_;
    queue.clear();
    scratch.unused_.clear();
    for (std::uint32_t i = 0; i + 1 < symbols.size(); ++i) add_pair(i, i + 1, pieces, scratch);
    while (!queue.empty()) {
      std::ranges::pop_heap(queue, std::ranges::greater{}, &Pair::order);
      const Pair pair = queue.back();
      queue.pop_back();
      merge(pair, pieces, scratch);
    }
    for (std::uint32_t i = 0; i != none; i = symbols[i].next) {
      deliver(symbols[i].text, pieces, scratch, 0, out);
    }
  }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  static constexpr int deepest = 100;  ///< the most nested merges that are undone

  static void read_symbols(std::string_view text, const SentencePieces& pieces, Scratch& scratch) {
    auto& symbols = scratch.symbols_;
    symbols.clear();
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t symbol = pieces.symbol_prefix(text.substr(i));
      const std::size_t size = symbol > 0 ? symbol : utf8_length(text[i]);
      const auto at = static_cast<std::uint32_t>(symbols.size());
      symbols.push_back({text.substr(i, size), at == 0 ? none : at - 1, at + 1, symbol > 0});
      i += size;
    }
    symbols.back().next = none;
  }

  static std::string_view joined(const Symbol& left, const Symbol& right) {
    return {left.text.data(), left.text.size() + right.text.size()};
  }

  /// Returns a key that sorts by score, the greatest first, and then from left to right.
  static std::uint64_t order_of(float score, std::uint32_t left) {
    const auto bits = std::bit_cast<std::uint32_t>(score);
    const std::uint32_t rising = bits >> 31 != 0 ? ~bits : bits | std::uint32_t{1} << 31;
    return std::uint64_t{~rising} << 32 | left;
  }

  static void add_pair(std::uint32_t left, std::uint32_t right, const SentencePieces& pieces,
                       Scratch& scratch) {
    if (left == none || right == none) return;
    const Symbol& first = scratch.symbols_[left];
    const Symbol& second = scratch.symbols_[right];
    if (first.frozen || second.frozen) return;
    const auto text = joined(first, second);
    const Id id = pieces.trie().find(text);
    if (id == DoubleArray::no_id) return;
    scratch.queue_.push_back({order_of(pieces[id].score, left), left, right, text.size()});
    std::ranges::push_heap(scratch.queue_, std::ranges::greater{}, &Pair::order);
    if (pieces[id].type == SentencePiece::Type::unused) {
      scratch.unused_.insert_or_assign(text, Halves{first.text, second.text});
    }
  }

  static void merge(const Pair& pair, const SentencePieces& pieces, Scratch& scratch) {
    auto& symbols = scratch.symbols_;
    Symbol& left = symbols[pair.left];
    Symbol& right = symbols[pair.right];
    if (left.text.empty() || right.text.empty() ||
        left.text.size() + right.text.size() != pair.size) {
      return;  // One of the two symbols has changed since it was queued.
    }
    left.text = joined(left, right);
    left.next = right.next;
    if (right.next != none) symbols[right.next].previous = pair.left;
    right.text = {};
    add_pair(left.previous, pair.left, pieces, scratch);
    add_pair(pair.left, left.next, pieces, scratch);
  }

  static void deliver(std::string_view text, const SentencePieces& pieces, const Scratch& scratch,
                      int depth, std::vector<PieceOfText>& out) {
    const Id id = pieces.trie().find(text);
    if (id == DoubleArray::no_id) return out.push_back({text, pieces.unknown()});
    if (depth > deepest || pieces[id].type != SentencePiece::Type::unused) {
      return out.push_back({text, id});
    }
    const auto halves = scratch.unused_.find(text);
    if (halves == scratch.unused_.end()) return out.push_back({text, pieces.unknown()});
    deliver(halves->second.first, pieces, scratch, depth + 1, out);
    deliver(halves->second.second, pieces, scratch, depth + 1, out);
  }
};

}  // namespace seqtrain::text
