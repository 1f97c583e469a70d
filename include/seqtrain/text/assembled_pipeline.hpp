#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <seqtrain/text/added_tokens.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/models/bpe.hpp>
#include <seqtrain/text/models/cached_words.hpp>
#include <seqtrain/text/models/character_bpe.hpp>
#include <seqtrain/text/models/unigram.hpp>
#include <seqtrain/text/models/wordpiece.hpp>
#include <seqtrain/text/normalizers/front_of_text.hpp>
#include <seqtrain/text/normalizers/normalizers.hpp>
#include <seqtrain/text/pre_tokenizers/pre_tokenizers.hpp>
#include <seqtrain/text/pre_tokenizers/spaced_words.hpp>

namespace seqtrain::text {

/// A pipeline whose normalizers, pre-tokenizers and model are chosen at run time. If words can be
/// cut at spaces before they are normalized, the pipeline caches the ids of words.
class AssembledPipeline {
 public:
  using Model = std::variant<Unigram, CharacterBpe, WordPiece, Bpe>;

  /// One thread's working memory. Several pipelines may use it in turn.
  class Scratch {
    friend AssembledPipeline;

    std::string normal_form_;
    std::string other_;
    PieceScratch pieces_;
    Unigram::Scratch steps_;
    CachedWords cached_;

   public:
    /// The number of bytes of the next text to encode that come from the first character of the
    /// whole text. Before `normalize` it only matters whether it is zero.
    std::size_t front = 1;
  };

  AssembledPipeline(NormalizerSequence normalizers, PreTokenizerSequence splitters, Model model)
      : normalizers_{std::move(normalizers)},
        splitters_{std::move(splitters)},
        rule_{SpacedWords::rule(normalizers_, splitters_)},
        model_{std::move(model)} {
    asks_for_front_ = std::ranges::any_of(splitters_.parts(), [](const PreTokenizer& part) {
      const auto* metaspace = std::get_if<Metaspace>(&part);
      return metaspace && metaspace->scheme == Metaspace::Scheme::first;
    });
    Scratch scratch;
    if (rule_.cuts) encode_word(rule_.replacement, scratch, lone_space_);
  }

  /// Appends the ids of `text`. May stop once it has appended `limit` ids or more.
  void encode(std::string_view text, std::size_t limit, Scratch& scratch,
              std::vector<Id>& out) const {
    if (encode_words(text, limit, scratch, out)) return;
    encode_normalized(normalize(text, scratch), limit, scratch, out);
  }

  /// Returns the normal form of `text`. The view is valid until `scratch` is used again.
  [[nodiscard]] std::string_view normalize(std::string_view text, Scratch& scratch) const {
    if (!asks_for_front_ || scratch.front == 0) {
      return normalizers_.normalize(text, scratch.normal_form_, scratch.other_);
    }
    FrontOfText front{text};
    for (const Normalizer& part : normalizers_.parts()) front.apply(part);
    scratch.front = front.size();
    return scratch.normal_form_ = front.text();
  }

  /// Appends the ids of a text that is already in its normal form. May stop at `limit` ids or more.
  void encode_normalized(std::string_view text, std::size_t limit, Scratch& scratch,
                         std::vector<Id>& out) const {
    const std::size_t before = out.size();
    splitters_.split(text, scratch.front, scratch.pieces_);
    for (const Piece& piece : scratch.pieces_.pieces) {
      if (out.size() - before >= limit) break;
      encode_word(piece.text, scratch, out);
    }
  }

  /// Makes `encode_words` look for these tokens, whose contents must be normal forms.
  void look_for(std::vector<AddedToken> tokens) {
    tokens_ = AddedTokens{std::move(tokens)};
    if (tokens_.have_whitespace()) rule_.cuts = false;
    identity_ = {};  // its words may have other ids than those of a copy
  }

  /// Appends the ids of a text word by word, with the cache. Returns false and appends nothing if
  /// the pipeline cannot be run per word, or if the normal form has one of the tokens of
  /// `look_for`.
  bool encode_words(std::string_view text, std::size_t limit, Scratch& scratch,
                    std::vector<Id>& out) const {
    if (!rule_.cuts) return false;
    scratch.cached_.begin(identity_);
    const std::size_t before = out.size();
    SpacedWords words{text};
    while (words.next_batch()) {
      if (!encode_batch(words, scratch, out)) {
        out.resize(before);
        return false;
      }
      if (out.size() - before >= limit) return true;
    }
    if (words.empty()) return text.empty();
    if (rule_.keeps_last_spaces) add_spaces(words.spaces_after(), true, out);
    return true;
  }

 private:
  void encode_word(std::string_view word, Scratch& scratch, std::vector<Id>& out) const {
    if (const auto* unigram = std::get_if<Unigram>(&model_)) {
      return unigram->encode_word(word, scratch.steps_, out);
    }
    std::visit(
        [&](const auto& model) {
          if constexpr (requires { model.encode_word(word, out); }) model.encode_word(word, out);
        },
        model_);
  }

  /// Appends the ids of spaces that are words of their own.
  void add_spaces(std::size_t count, bool all, std::vector<Id>& out) const {
    if (rule_.joins_spaces) count = std::min<std::size_t>(count, 1);
    for (std::size_t i = all ? 0 : 1; i < count; ++i) {
      out.insert(out.end(), lone_space_.begin(), lone_space_.end());
    }
  }

  bool encode_batch(const SpacedWords& words, Scratch& scratch, std::vector<Id>& out) const {
    const auto spaces = [&](std::size_t i, const auto& flush) {
      if (words.spaces_before(i) <= 1 || rule_.joins_spaces) return;
      if (!rule_.keeps_first_spaces && words.is_first(i)) return;
      flush();
      add_spaces(words.spaces_before(i), false, out);
    };
    const auto encode_rare = [&](std::string_view word, const WordKey& key) {
      return scratch.cached_.append_rare(word, key, out, [&] {
        const auto normal = rule_.local.normalize(word, scratch.normal_form_, scratch.other_);
        if (!rule_.stands_alone(word, normal) || tokens_.contained_in(normal)) return false;
        encode_normalized(normal, std::numeric_limits<std::size_t>::max(), scratch, out);
        return true;
      });
    };
    return scratch.cached_.append(words, 0, words.size(), spaces, encode_rare, out);
  }

  NormalizerSequence normalizers_;
  PreTokenizerSequence splitters_;
  SpacedWords::Rule rule_;
  Model model_;
  AddedTokens tokens_;           ///< tokens that are looked for in normal forms
  bool asks_for_front_ = false;  ///< a part treats the front of a text differently
  std::vector<Id> lone_space_ = {};
  CachedWords::Owner identity_;
};

}  // namespace seqtrain::text
