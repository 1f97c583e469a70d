#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <seqtrain/text/pre_tokenizers/bert_splitter.hpp>
#include <seqtrain/text/pre_tokenizers/byte_level.hpp>
#include <seqtrain/text/pre_tokenizers/pattern_splitter.hpp>
#include <seqtrain/text/pre_tokenizers/piece.hpp>

namespace seqtrain::text {

/// Replaces spaces by a visible character, and cuts before each such character if `split` is set.
struct Metaspace {
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
    if (use_regex) {
      ByteLevelSplitter{}.for_each_word(text, add);
    } else {
      add(text);
    }
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
using PreTokenizer = std::variant<Metaspace, PatternSplitter, BertWords, ByteLevelPart>;

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
