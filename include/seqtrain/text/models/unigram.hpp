#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/models/double_array.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// Options of `Unigram`.
struct UnigramOptions {
  Id unknown = 0;              ///< index of the unknown piece
  bool byte_fallback = false;  ///< unknown text becomes the pieces of its bytes
};

/// Cuts a text into the pieces whose scores have the greatest sum (Kudo 2018), by the Viterbi
/// algorithm. A character that is not a piece scores 10 less than the lowest score of a piece.
/// Neighbouring unknown characters become one unknown piece. If two segmentations are equally good
/// the first one found wins.
class Unigram {
 public:
  /// A piece and the logarithm of its probability. Its id is its index.
  using Piece = std::pair<std::string, double>;

  /// The best segmentation up to a place in a text.
  struct Step {
    double score;
    std::uint32_t begin;  ///< start of the last piece; `none` if no segmentation ends here
    Id id;
  };
  using Scratch = std::vector<Step>;

  /// Throws `InputError` if a score is not finite or the unknown piece is missing.
  Unigram(std::span<const Piece> pieces, const UnigramOptions& options)
      : trie_{strings_of(pieces)}, options_{options} {
    if (options.unknown < 0 || static_cast<std::size_t>(options.unknown) >= pieces.size()) {
      throw InputError{"the vocabulary has no unknown piece"};
    }
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [piece, score] : pieces) {
      if (!std::isfinite(score))
        throw InputError{"the score of \"" + piece + "\" is not a finite number"};
      scores_.push_back(score);
      least = std::min(least, score);
    }
    unknown_score_ = least - 10;
    if (options.byte_fallback) find_bytes();
  }

  /// Appends the ids of `word`, which must be valid UTF-8.
  void encode_word(std::string_view word, Scratch& steps, std::vector<Id>& out) const {
    if (word.size() >= none) throw InputError{"words of 4 GiB and more are not supported"};
    search(word, steps);
    const std::size_t before = out.size();
    std::size_t unknown_end = 0;  // The end of the unknown stretch that is being collected.
    for (std::size_t end = word.size(); end > 0;) {
      const Step& step = steps[end];
      if (step.id == options_.unknown) {
        if (unknown_end == 0) unknown_end = end;
      } else {
        if (unknown_end > 0) {
          add_unknown(word.substr(end, std::exchange(unknown_end, 0) - end), out);
        }
        out.push_back(step.id);
      }
      end = step.begin;
    }
    if (unknown_end > 0) add_unknown(word.substr(0, unknown_end), out);
    std::reverse(out.begin() + static_cast<std::ptrdiff_t>(before), out.end());
  }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  static std::vector<std::pair<std::string_view, Id>> strings_of(std::span<const Piece> pieces) {
    std::vector<std::pair<std::string_view, Id>> strings;
    for (const auto& piece : pieces) {
      strings.emplace_back(piece.first, static_cast<Id>(strings.size()));
    }
    return strings;
  }

  void find_bytes() {
    constexpr std::string_view digits = "0123456789ABCDEF";
    for (std::size_t byte = 0; byte < bytes_.size(); ++byte) {
      bytes_[byte] = trie_.find(std::string{"<0x"} + digits[byte / 16] + digits[byte % 16] + ">");
    }
  }

  void search(std::string_view word, Scratch& steps) const {
    steps.assign(word.size() + 1, Step{0, none, 0});
    for (std::size_t begin = 0; begin < word.size();) {
      const double here = steps[begin].score;
      const std::size_t next = begin + utf8_length(word[begin]);
      const auto offer = [&](std::size_t end, double score, Id id) {
        Step& step = steps[end];
        if (step.begin != none && !(score > step.score)) return;
        step = {score, static_cast<std::uint32_t>(begin), id};
      };
      bool has_character = false;
      trie_.for_each_prefix(word.substr(begin), [&](std::size_t size, Id id) {
        offer(begin + size, scores_[static_cast<std::size_t>(id)] + here, id);
        has_character = has_character || begin + size == next;
      });
      if (!has_character) offer(next, unknown_score_ + here, options_.unknown);
      begin = next;
    }
  }

  /// Appends the ids of an unknown stretch, the last first.
  void add_unknown(std::string_view text, std::vector<Id>& out) const {
    if (const Id whole = trie_.find(text); whole != DoubleArray::no_id) return out.push_back(whole);
    const auto byte_id = [&](char c) { return bytes_[static_cast<unsigned char>(c)]; };
    const auto is_piece = [&](char c) { return byte_id(c) != DoubleArray::no_id; };
    if (!options_.byte_fallback || !std::ranges::all_of(text, is_piece)) {
      return out.push_back(options_.unknown);
    }
    for (std::size_t i = text.size(); i > 0; --i) out.push_back(byte_id(text[i - 1]));
  }

  DoubleArray trie_;
  std::vector<double> scores_;
  double unknown_score_ = 0;
  UnigramOptions options_;
  std::array<Id, 256> bytes_{};
};

}  // namespace seqtrain::text
