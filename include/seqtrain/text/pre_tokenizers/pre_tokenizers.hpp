#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <seqtrain/text/normalizers/normalizers.hpp>
#include <seqtrain/text/pre_tokenizers/bert_splitter.hpp>
#include <seqtrain/text/pre_tokenizers/byte_level.hpp>
#include <seqtrain/text/pre_tokenizers/word_pattern.hpp>
#include <seqtrain/text/unicode/unicode.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// A stretch of a text between the normalizers and the model.
struct Piece {
  std::string_view text;
  std::size_t front = 0;  ///< bytes that come from the first character of the whole text

  /// Returns a part of the piece that begins `begin` bytes after its start.
  [[nodiscard]] Piece part(std::string_view part, std::size_t begin) const noexcept {
    return {part, front - std::min(front, begin)};
  }
  /// Returns a part of the piece, which has to be a view of it.
  [[nodiscard]] Piece part(std::string_view part_of_text) const noexcept {
    return part(part_of_text, static_cast<std::size_t>(part_of_text.data() - text.data()));
  }
};

/// One thread's working memory for pre-tokenizers. It owns the texts that they change.
struct PieceScratch {
  std::vector<Piece> pieces;
  std::vector<Piece> next;
  std::vector<std::pair<std::string_view, bool>> matches;
  std::deque<std::string> texts;
};

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

  /// Tells whether each digit becomes a piece of its own and nothing is dropped.
  [[nodiscard]] bool isolates_digits() const noexcept {
    return kind_ == Kind::numeric && delimiter_ == Delimiter::isolated;
  }

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

/// Replaces spaces by a visible character, and cuts before each such character if `split` is set.
struct Metaspace {
  /// The texts that get the character at their front.
  enum class Scheme { always, first, never };
  std::string replacement = "\u2581";
  /// Tells when the character is put before a text that does not begin with one.
  Scheme scheme = Scheme::always;
  bool split = true;

  void split_piece(const Piece& piece, PieceScratch& scratch) const {
    std::string& text = scratch.texts.emplace_back();
    const bool prefixed = !(piece.text.starts_with(' ') || piece.text.starts_with(replacement));
    if (prefixed && (scheme == Scheme::always || (scheme == Scheme::first && piece.front > 0))) {
      text += replacement;
    }
    std::size_t front = 0;
    for (std::size_t i = 0; i < piece.text.size(); ++i) {
      if (piece.text[i] == ' ') {
        text += replacement;
      } else {
        text.push_back(piece.text[i]);
      }
      if (i < piece.front) front = text.size();
    }
    const Piece whole{text, front};
    std::size_t begin = 0;
    for (std::size_t end = 0; split && !text.empty();) {
      end = text.find(replacement, end + 1);
      if (end == std::string::npos) break;
      scratch.next.push_back(whole.part(whole.text.substr(begin, end - begin)));
      begin = end;
    }
    const auto last = whole.text.substr(begin);
    if (!last.empty()) scratch.next.push_back(whole.part(last));
  }
};

/// Runs BERT's splitter as a part of a sequence.
struct BertWords {
  void split_piece(const Piece& piece, PieceScratch& scratch) const {
    BertSplitter{}.for_each_word(
        piece.text, [&](std::string_view word) { scratch.next.push_back(piece.part(word)); });
  }
};

/// Runs a byte-level splitter's rule as a part of a sequence, apart from its bytes.
struct PatternWords {
  WordPattern pattern = WordPattern::gpt2;

  void split_piece(const Piece& piece, PieceScratch& scratch) const {
    const auto add = [&](std::string_view word) { scratch.next.push_back(piece.part(word)); };
    ByteLevelSplitter{.pattern = pattern}.for_each_word(piece.text, add);
  }
};

/// Runs GPT-2's splitter as a part of a sequence. Bytes become `byte_symbols` unless the model
/// takes bytes.
struct ByteLevelPart {
  bool add_prefix_space = true;
  bool use_regex = true;
  bool to_symbols = false;

  void split_piece(const Piece& piece, PieceScratch& scratch) const {
    std::string& text = scratch.texts.emplace_back();
    if (add_prefix_space && !piece.text.starts_with(' ')) text = ' ';
    text += piece.text;
    const std::size_t added = text.size() - piece.text.size();
    const Piece whole{text, piece.front > 0 ? piece.front + added : 0};
    const auto add = [&](std::string_view word) {
      const Piece part = whole.part(word);
      scratch.next.push_back(to_symbols ? symbols_of(part, scratch) : part);
    };
    use_regex ? ByteLevelSplitter{}.for_each_word(text, add) : add(text);
  }

 private:
  static Piece symbols_of(const Piece& piece, PieceScratch& scratch) {
    std::string& symbols = scratch.texts.emplace_back();
    std::size_t front = 0;
    for (std::size_t i = 0; i < piece.text.size(); ++i) {
      symbols += byte_symbols()[static_cast<unsigned char>(piece.text[i])];
      if (i < piece.front) front = symbols.size();
    }
    return {symbols, front};
  }
};

/// Any of the pre-tokenizers, chosen at run time.
using PreTokenizer =
    std::variant<Metaspace, PatternSplitter, BertWords, PatternWords, ByteLevelPart>;

/// Runs pre-tokenizers one after the other.
class PreTokenizerSequence {
 public:
  PreTokenizerSequence() = default;
  explicit PreTokenizerSequence(std::vector<PreTokenizer> parts) : parts_{std::move(parts)} {}

  /// Leaves the words of `text`, none of them empty, in `scratch.pieces`. `front` is the number of
  /// bytes that come from the first character of the whole text.
  void split(std::string_view text, std::size_t front, PieceScratch& scratch) const {
    scratch.texts.clear();
    scratch.pieces.clear();
    if (!text.empty()) scratch.pieces.push_back({text, front});
    for (const PreTokenizer& part : parts_) {
      scratch.next.clear();
      for (const Piece& piece : scratch.pieces) {
        std::visit([&](const auto& one) { one.split_piece(piece, scratch); }, part);
      }
      std::swap(scratch.pieces, scratch.next);
    }
  }

  [[nodiscard]] const std::vector<PreTokenizer>& parts() const noexcept { return parts_; }

 private:
  std::vector<PreTokenizer> parts_;
};

}  // namespace seqtrain::text
