#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/text/normalizers/normalizers.hpp>
#include <seqtrain/text/pre_tokenizers/piece.hpp>
#include <seqtrain/text/unicode/unicode.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// Tells what happens to the matches of a splitter's pattern.
enum class Delimiter { removed, isolated, merged_with_previous, merged_with_next, contiguous };

/// Cuts a text at the start and the end of each match of a pattern.
class PatternSplitter {
 public:
  /// The patterns: single characters of a class; words by `\w+|[^\w\s]+`; the pattern of a
  /// `Replace`.
  enum class Kind { whitespace, punctuation, numeric, words, pattern };

  PatternSplitter(Kind kind, Delimiter delimiter, bool invert = false, Replace pattern = {})
      : kind_{kind}, delimiter_{delimiter}, invert_{invert}, pattern_{std::move(pattern)} {}

  [[nodiscard]] bool drops_whitespace() const noexcept {
    return kind_ == Kind::whitespace && delimiter_ == Delimiter::removed && !invert_;
  }

  void split_piece(const Piece& piece, PieceScratch& scratch) const {
    auto& matches = scratch.matches;
    matches.clear();
    std::size_t done = 0;
    const auto add = [&](std::size_t begin, std::size_t end) {
      if (done < begin) matches.emplace_back(piece.text.substr(done, begin - done), invert_);
      matches.emplace_back(piece.text.substr(begin, end - begin), !invert_);
      done = end;
    };
    for (std::size_t i = 0; i < piece.text.size();) {
      if (const std::size_t size = match(piece.text, i)) {
        add(i, i + size);
        i += size;
      } else {
        i += utf8_length(piece.text[i]);
      }
    }
    if (done < piece.text.size()) matches.emplace_back(piece.text.substr(done), invert_);
    deliver(piece, scratch);
  }

 private:
  [[nodiscard]] std::size_t match(std::string_view text, std::size_t i) const {
    if (kind_ == Kind::pattern) return pattern_.match(text, i);
    std::size_t end = i;
    const char32_t code = decode(text, end);
    if (kind_ == Kind::whitespace) return is_whitespace(code) ? end - i : 0;
    if (kind_ == Kind::punctuation) return is_punctuation(code) ? end - i : 0;
    if (kind_ == Kind::numeric) return is_numeric(code) ? end - i : 0;
    const auto class_of = [](char32_t c) {
      return is_word_character(c) ? 1 : is_whitespace(c) ? 0 : 2;
    };
    const int kind = class_of(code);
    if (kind == 0) return 0;
    for (std::size_t next = end; next < text.size(); end = next) {
      if (class_of(decode(text, next)) != kind) break;
    }
    return end - i;
  }

  static std::string_view joined(std::string_view first, std::string_view second) {
    return {first.data(), first.size() + second.size()};
  }

  void deliver(const Piece& piece, PieceScratch& scratch) const {
    auto& matches = scratch.matches;
    std::vector<std::string_view> pieces;
    const bool backwards = delimiter_ == Delimiter::merged_with_next;
    if (backwards) std::ranges::reverse(matches);
    bool previous = false;
    const bool merges = delimiter_ == Delimiter::merged_with_previous || backwards;
    for (const auto& [text, is_match] : matches) {
      const bool fits = delimiter_ == Delimiter::contiguous ? is_match == previous
                                                            : merges && is_match && !previous;
      const bool joins = fits && !pieces.empty();
      if (joins) {
        pieces.back() = backwards ? joined(text, pieces.back()) : joined(pieces.back(), text);
      } else if (!(delimiter_ == Delimiter::removed && is_match)) {
        pieces.push_back(text);
      }
      previous = is_match;
    }
    if (backwards) std::ranges::reverse(pieces);
    for (const auto text : pieces) scratch.next.push_back(piece.part(text));
  }

  Kind kind_;
  Delimiter delimiter_;
  bool invert_;
  Replace pattern_;
};

}  // namespace seqtrain::text
