#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/text/bert_added_tokens.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/models/cached_words.hpp>
#include <seqtrain/text/models/wordpiece.hpp>
#include <seqtrain/text/normalizers/bert_normalizer.hpp>
#include <seqtrain/text/pipeline.hpp>
#include <seqtrain/text/pre_tokenizers/ascii_words.hpp>
#include <seqtrain/text/pre_tokenizers/bert_splitter.hpp>
#include <seqtrain/text/unicode/unicode.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// Gives the ids of `Plain` faster: BERT's normalizer, splitter and WordPiece in one pass with a
/// cache. BERT's normalizer changes each character alone, or together with the combining marks
/// after it. So a text may be cut at spaces and punctuation before it is normalized, and the ids of
/// the raw stretches between them can be cached.
class BertPipeline {
 public:
  using Plain = Pipeline<BertNormalizer, BertSplitter, WordPiece>;

  /// One thread's working memory. Several pipelines may use it in turn.
  class Scratch {
    friend BertPipeline;

    AsciiWords words_;
    CachedWords cached_;
    Plain::Scratch plain_;
  };

  BertPipeline(const BertNormalizer& normalizer, const BertSplitter& splitter, WordPiece model)
      : normalizer_{normalizer}, plain_{normalizer, splitter, std::move(model)} {}

  /// Returns the pipeline that runs the parts one after the other.
  [[nodiscard]] const Plain& plain() const noexcept { return plain_; }

  /// Makes `encode_words` find these tokens, whose contents must be normal forms.
  void look_for(std::vector<AddedToken> tokens) {
    added_ = {normalizer_, std::move(tokens)};
    identity_ = {};  // its words may have other ids than those of a copy
  }

  /// Appends the ids of `text` as `encode` does, and finds the tokens of `look_for` in it. Returns
  /// false and appends nothing if a token may occur that cannot be found word by word.
  bool encode_words(std::string_view text, std::size_t limit, Scratch& scratch,
                    std::vector<Id>& out) const {
    if (added_.others_may_occur(text)) return false;
    encode(text, limit, scratch, out);
    return true;
  }

  /// Appends the ids of `text`. May stop once it has appended `limit` ids or more.
  void encode(std::string_view text, std::size_t limit, Scratch& scratch,
              std::vector<Id>& out) const {
    scratch.cached_.begin(identity_);
    const std::size_t before = out.size();
    const auto missing = [&] { return limit - std::min(limit, out.size() - before); };
    while (!text.empty() && missing() > 0) {
      std::size_t done = scratch.words_.scan(text, normalizer_.lowercase);
      if (done == 0) {
        done = AsciiWords::word_end(text);
        encode_stretch(text.substr(0, done), missing(), scratch, out);
      } else {
        const auto encode_rare = [&](std::string_view word, const WordKey& key) {
          return scratch.cached_.append_rare(word, key, out, [&] {
            encode_new(word, scratch, out);
            return true;
          });
        };
        scratch.cached_.append_all(scratch.words_, 128, missing(), encode_rare, out);
      }
      text.remove_prefix(done);
    }
  }

  /// Returns the normal form of `text`. The view is valid until `scratch` is used again.
  [[nodiscard]] std::string_view normalize(std::string_view text, Scratch& scratch) const {
    return plain_.normalize(text, scratch.plain_);
  }
  void encode_normalized(std::string_view text, std::size_t limit, Scratch& scratch,
                         std::vector<Id>& out) const {
    plain_.encode_normalized(text, limit, scratch.plain_, out);
  }

 private:
  /// Encodes a stretch without ASCII spaces and punctuation that is not in the cache.
  [[gnu::noinline]] void encode_new(std::string_view word, Scratch& scratch,
                                    std::vector<Id>& out) const {
    if (std::ranges::all_of(word, [&](char c) { return is_normal(c); }) &&
        !added_.in_words().contained_in(word)) {
      plain_.model().encode_word(word, out);
    } else if (word.size() <= WordKey::max_bytes) {
      encode_whole(word, scratch, out);
    } else {
      encode_stretch(word, unlimited, scratch, out);
    }
  }

  /// Returns whether a byte is printable ASCII that the normalizer leaves unchanged.
  [[nodiscard]] bool is_normal(char c) const noexcept {
    const bool upper = 'A' <= c && c <= 'Z';
    return ' ' < c && c < 0x7F && !(upper && normalizer_.lowercase);
  }

  /// Cuts a stretch at non-ASCII characters that always separate words and encodes the parts.
  void encode_stretch(std::string_view text, std::size_t limit, Scratch& scratch,
                      std::vector<Id>& out) const {
    const CharacterTable& characters = CharacterTable::instance();
    const std::size_t before = out.size();
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size() && out.size() - before < limit;) {
      const std::size_t start = i;
      if (!parts_words(characters.properties(decode(text, i)))) continue;
      encode_piece(text.substr(begin, start - begin), scratch, out);
      encode_piece(text.substr(start, i - start), scratch, out);
      begin = i;
    }
    if (out.size() - before < limit) encode_piece(text.substr(begin), scratch, out);
  }

  /// Returns whether a character always separates words: the normalizer does not drop it, and its
  /// normal form begins and ends with separating characters of combining class 0.
  [[nodiscard]] bool parts_words(std::uint8_t properties) const noexcept {
    using Table = CharacterTable;
    if (properties & Table::control) return false;
    if (properties & Table::ideograph) return normalizer_.handle_chinese_chars;
    if (properties & Table::whitespace) return true;
    constexpr int changed = Table::mapped | Table::nonspacing_mark;
    return (properties & (Table::punctuation | changed)) == Table::punctuation;
  }

  void encode_piece(std::string_view piece, Scratch& scratch, std::vector<Id>& out) const {
    if (piece.empty()) return;
    if (piece.size() <= WordKey::max_bytes) {
      if (const auto* entry = scratch.cached_.find(WordKey::of(piece))) {
        out.insert(out.end(), entry->ids.begin(),
                   entry->ids.begin() + static_cast<std::ptrdiff_t>(entry->count()));
        return;
      }
    }
    const std::size_t before = out.size();
    encode_whole(piece, scratch, out);
    if (piece.size() > WordKey::max_bytes) return;
    scratch.cached_.insert(WordKey::of(piece), std::span{out}.subspan(before));
  }

  void encode_whole(std::string_view text, Scratch& scratch, std::vector<Id>& out) const {
    added_.in_words().split(plain_.normalize(text, scratch.plain_), [&](const Segment& segment) {
      if (segment.id) {
        out.push_back(*segment.id);
      } else {
        plain_.encode_normalized(segment.text, unlimited, scratch.plain_, out);
      }
      return true;
    });
  }

  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  BertNormalizer normalizer_;
  Plain plain_;
  BertAddedTokens added_;
  CachedWords::Owner identity_;
};

}  // namespace seqtrain::text
