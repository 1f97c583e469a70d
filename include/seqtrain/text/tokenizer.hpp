#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/text/added_tokens.hpp>
#include <seqtrain/text/assembled_pipeline.hpp>
#include <seqtrain/text/bert_pipeline.hpp>
#include <seqtrain/text/byte_level_pipeline.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/normalizers/normalizers.hpp>
#include <seqtrain/text/pipeline.hpp>
#include <seqtrain/text/post_processing.hpp>
#include <seqtrain/text/tokens.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// A pipeline that finds added tokens in the normal form of a text while it encodes the text word
/// by word.
template <class P>
concept FindsAddedTokens = requires(P& pipeline, const P& made, typename P::Scratch& scratch,
                                    std::vector<Id>& out) {
  pipeline.look_for(std::vector<AddedToken>{});
  { made.encode_words(std::string_view{}, std::size_t{}, scratch, out) } -> std::same_as<bool>;
};

static_assert(FindsAddedTokens<BertPipeline> && FindsAddedTokens<AssembledPipeline>);

/// The settings of a tokenizer apart from its pipeline.
struct TokenizerOptions {
  std::vector<AddedToken> added_tokens = {};
  Templates templates = {};
  Id pad_id = 0;
  std::size_t vocab_size = 0;                  ///< the greatest id plus one
  std::vector<std::string> names = {};         ///< the tokens of the vocabulary, indexed by id
  LongTexts long_texts = LongTexts::truncate;  ///< the ids that texts keep
};

/// Changes of texts that a model which embeds them asks for besides its tokenizer.
struct TextChange {
  std::string prompt = {};  ///< begins the text, or the first one of a pair
  bool lowercases = false;  ///< the text is read in lower case, apart from added tokens
};

/// Turns a text or a pair into ids. It finds added tokens, runs `Pipeline` on the text between
/// them, truncates, and adds the special tokens of the template. It models `text::Tokenizer`.
template <class Pipeline>
class BasicTokenizer {
 public:
  using Scratch = typename Pipeline::Scratch;

  BasicTokenizer(Pipeline pipeline, TokenizerOptions options)
      : pipeline_{std::move(pipeline)},
        templates_{std::move(options.templates)},
        pad_id_{options.pad_id},
        vocab_size_{options.vocab_size},
        long_texts_{options.long_texts},
        names_{std::move(options.names)} {
    auto& tokens = options.added_tokens;
    const auto normalized = std::stable_partition(
        tokens.begin(), tokens.end(), [](const AddedToken& token) { return !token.normalized; });
    Scratch scratch;
    std::for_each(normalized, tokens.end(), [&](AddedToken& token) {
      token.content = std::string{pipeline_.normalize(token.content, scratch)};
    });
    normalized_tokens_ = AddedTokens{{normalized, tokens.end()}};
    if constexpr (FindsAddedTokens<Pipeline>) {
      if (!normalized_tokens_.empty()) pipeline_.look_for({normalized, tokens.end()});
    }
    tokens.erase(normalized, tokens.end());
    tokens_ = AddedTokens{std::move(tokens)};
  }

  /// Appends the ids of a text or a pair; see `text::Tokenizer`. Throws `InputError` if a text is
  /// not UTF-8, or if the special tokens alone exceed `max_length`.
  std::size_t encode(std::string_view text, std::optional<std::string_view> pair,
                     const EncodeOptions& options, Scratch& scratch, std::vector<Id>& out) const {
    check_utf8(text);
    if (pair) check_utf8(*pair);
    std::string longer;
    if (!change_.prompt.empty()) text = longer.append(change_.prompt).append(text);
    const Room room = room_of(options, pair.has_value());
    Template bare;
    if (templates_.pair.type_zero_between) bare.type_zero_between = 0;
    const Template& special = pair ? templates_.pair : templates_.single;
    const Template& used = options.add_special_tokens ? special : bare;
    return pair ? encode_pair(text, *pair, used, room, scratch, out)
                : encode_single(text, used, room, scratch, out);
  }

  /// Returns the tokens of a text, with special tokens around them if `special` is set. The tokens
  /// have offsets if the pipeline has parts. Slower than `encode`. Throws `InputError` if the text
  /// is not UTF-8.
  [[nodiscard]] std::vector<Token> tokens(std::string_view text, bool special) const {
    check_utf8(text);
    TokenCollector<Pipeline> collector{pipeline_, text, names_, templates_.trims_spaces};
    const auto add = [&](const std::vector<Id>& ids) {
      for (const Id id : ids) collector.add_special(id);
    };
    if (special) add(templates_.single.before);
    if constexpr (HasParts<Pipeline>) {
      tokens_.split(text, [&](const Segment& segment) {
        if (segment.id) {
          collector.add_added(*segment.id, segment.text);
        } else {
          collector.add_stretch(segment.text, normalized_tokens_);
        }
        return true;
      });
    } else {
      Scratch scratch;
      std::vector<Id> ids;
      append_ids(text, unlimited, scratch, ids);
      for (const Id id : ids) collector.add_named(id);
    }
    if (special) add(templates_.single.after);
    return std::move(collector).take();
  }

  /// Sets the ids that texts keep unless the options of a call say otherwise.
  void set_long_texts(LongTexts way) noexcept { long_texts_ = way; }
  [[nodiscard]] LongTexts long_texts() const noexcept { return long_texts_; }

  /// Sets what `encode` does to a text before it makes ids of it. `tokens` does not do it.
  void set_change(TextChange change) { change_ = std::move(change); }

  /// Gives all ids of a pair type 0 from now on.
  void leave_out_token_types() { templates_.pair.type_zero_between.reset(); }

  [[nodiscard]] const Templates& templates() const noexcept { return templates_; }
  [[nodiscard]] const Pipeline& pipeline() const noexcept { return pipeline_; }
  [[nodiscard]] std::size_t vocab_size() const noexcept { return vocab_size_; }
  [[nodiscard]] Id pad_id() const noexcept { return pad_id_; }

  /// Returns the number of special tokens around a single text (false) or a pair (true).
  [[nodiscard]] std::size_t special_tokens(bool pair) const noexcept {
    return (pair ? templates_.pair : templates_.single).special_tokens();
  }

 private:
  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  /// The number of ids that an example's texts may have, and which of them they keep.
  struct Room {
    std::size_t budget;
    LongTexts way;

    /// Returns how many ids of a text are needed if at most `limit` of them are kept.
    [[nodiscard]] std::size_t bound_of(std::size_t limit) const {
      return way == LongTexts::tail || way == LongTexts::head_tail ? unlimited : limit;
    }

    /// Keeps `kept` of the `length` ids from `begin` on.
    void cut(std::size_t begin, std::size_t length, std::size_t kept, std::vector<Id>& out) const {
      std::size_t first = way == LongTexts::tail ? 0 : kept;
      if (way == LongTexts::head_tail) first = kept / 4 + (kept % 4 + 2) / 4;  // rounded
      const auto from = out.begin() + static_cast<std::ptrdiff_t>(begin + first);
      out.erase(from, from + static_cast<std::ptrdiff_t>(length - kept));
    }
  };

  [[nodiscard]] Room room_of(const EncodeOptions& options, bool pair) const {
    const std::size_t taken = options.add_special_tokens ? special_tokens(pair) : 0;
    const LongTexts way = options.long_texts.value_or(long_texts_);
    if (options.max_length >= taken) return {options.max_length - taken, way};
    throw InputError{"a maximum length of " + std::to_string(options.max_length) +
                     " has no room for the " + std::to_string(taken) + " special tokens"};
  }

  std::size_t encode_single(std::string_view text, const Template& special, const Room& room,
                            Scratch& scratch, std::vector<Id>& out) const {
    const std::size_t before = out.size();
    append(special.before, out);
    const std::size_t begin = out.size();
    const std::size_t length = append_ids(text, room.bound_of(room.budget), scratch, out);
    room.cut(begin, length, std::min(length, room.budget), out);
    append(special.after, out);
    return out.size() - before;
  }

  /// Encodes each text of a pair only as far as truncation needs. It is enough to know that a text
  /// exceeds the budget, and not by how much, unless the budget is odd and both texts exceed it.
  std::size_t encode_pair(std::string_view first, std::string_view second, const Template& special,
                          const Room& room, Scratch& scratch, std::vector<Id>& out) const {
    const std::size_t budget = room.budget;
    const std::size_t before = out.size();
    append(special.before, out);
    const std::size_t first_begin = out.size();
    const std::size_t limit = budget == unlimited ? unlimited : budget + 1;
    // Most texts have more ids than one for 6 bytes, so both will probably exceed the budget.
    const bool skips_bound = budget % 2 != 0 && std::min(first.size(), second.size()) / 6 > limit;
    PairLengths lengths;
    for (std::size_t bound = skips_bound ? unlimited : room.bound_of(limit);; bound = unlimited) {
      out.resize(first_begin);
      lengths.first = append_ids(first, bound, scratch, out);
      append(special.between, out);
      lengths.second = append_ids(second, bound, scratch, out);
      if (bound == unlimited) break;
      const bool both_exceed = lengths.first > budget && lengths.second > budget;
      if (!both_exceed || budget % 2 == 0) break;
    }
    const bool only_first = room.way == LongTexts::only_first;
    if (only_first && lengths.first + lengths.second > budget && lengths.second >= budget) {
      refuse_second(budget + special.special_tokens());
    }
    const PairLengths kept = only_first
                                 ? cut_first(lengths, budget)
                                 : longest_first(lengths, budget, templates_.odd_id_to_first);
    room.cut(out.size() - lengths.second, lengths.second, kept.second, out);
    room.cut(first_begin, lengths.first, kept.first, out);
    append(special.after, out);
    const std::size_t end_of_first = special.before.size() + kept.first;
    if (long_texts_ == LongTexts::windows) return end_of_first + special.between.size();
    if (!special.type_zero_between) return out.size() - before;
    return end_of_first + *special.type_zero_between;
  }

  [[noreturn]] static void refuse_second(std::size_t max_length) {
    throw InputError{"the second text of the pair, such as a hypothesis about a label, takes all " +
                         std::to_string(max_length) + " ids and must not be cut",
                     {},
                     "make it shorter, or allow more ids by max_length"};
  }

  static void append(const std::vector<Id>& ids, std::vector<Id>& out) {
    out.insert(out.end(), ids.begin(), ids.end());
  }

  /// Appends the ids of `text` and returns their number. May stop once it has appended `limit` ids
  /// or more.
  std::size_t append_ids(std::string_view text, std::size_t limit, Scratch& scratch,
                         std::vector<Id>& out) const {
    const std::size_t before = out.size();
    const auto missing = [&] { return limit - std::min(limit, out.size() - before); };
    std::string lowered;
    tokens_.split(text, [&](const Segment& segment) {
      if (segment.id) {
        out.push_back(*segment.id);
      } else {
        note_front(segment.text.data() == text.data() ? 1 : 0, scratch);
        append_plain(in_case(segment.text, lowered), missing, scratch, out);
      }
      return missing() > 0;
    });
    return out.size() - before;
  }

  /// Returns a stretch of a text in the case that is read; `lowered` is memory for it.
  [[nodiscard]] std::string_view in_case(std::string_view text, std::string& lowered) const {
    if (!change_.lowercases) return text;
    lowered.clear();
    Lowercase{}.normalize(text, lowered);
    return lowered;
  }

  /// Sets `front` of the working memory if it has such a member.
  static void note_front(std::size_t front, Scratch& scratch) {
    if constexpr (requires { scratch.front; }) scratch.front = front;
  }

  /// Encodes a stretch that has no added tokens except normalized ones.
  template <class Missing>
  void append_plain(std::string_view text, const Missing& missing, Scratch& scratch,
                    std::vector<Id>& out) const {
    if (normalized_tokens_.empty()) return pipeline_.encode(text, missing(), scratch, out);
    if constexpr (FindsAddedTokens<Pipeline>) {
      if (pipeline_.encode_words(text, missing(), scratch, out)) return;
    }
    append_with_normalized_tokens(text, missing, scratch, out);
  }

  template <class Missing>
  void append_with_normalized_tokens(std::string_view text, const Missing& missing,
                                     Scratch& scratch, std::vector<Id>& out) const {
    const auto normal = pipeline_.normalize(text, scratch);
    std::size_t front = 0;
    if constexpr (requires { scratch.front; }) front = scratch.front;
    normalized_tokens_.split(normal, [&](const Segment& segment) {
      if (segment.id) {
        out.push_back(*segment.id);
      } else {
        const auto begin = static_cast<std::size_t>(segment.text.data() - normal.data());
        note_front(front - std::min(front, begin), scratch);
        pipeline_.encode_normalized(segment.text, missing(), scratch, out);
      }
      return missing() > 0;
    });
  }

  Pipeline pipeline_;
  AddedTokens tokens_;
  AddedTokens normalized_tokens_;
  Templates templates_;
  Id pad_id_;
  std::size_t vocab_size_;
  LongTexts long_texts_;
  std::vector<std::string> names_;
  TextChange change_ = {};
};

/// The tokenizer of BERT's family. Each family is an alias with its own pipeline.
using BertTokenizer = BasicTokenizer<BertPipeline>;
/// The tokenizer of RoBERTa's family.
using RobertaTokenizer = BasicTokenizer<ByteLevelPipeline>;
/// A tokenizer of byte-level BPE with normalizers before it.
using NormalizedByteLevelTokenizer = BasicTokenizer<NormalizedByteLevelPipeline>;
/// A tokenizer whose parts a `tokenizer.json` names.
using AssembledTokenizer = BasicTokenizer<AssembledPipeline>;

static_assert(Tokenizer<BertTokenizer> && Tokenizer<RobertaTokenizer> &&
              Tokenizer<NormalizedByteLevelTokenizer> && Tokenizer<AssembledTokenizer>);

}  // namespace seqtrain::text
