#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/models/string_hash.hpp>
#include <seqtrain/text/normalizers/word_marks.hpp>
#include <seqtrain/text/pipeline.hpp>
#include <seqtrain/text/tokenizer.hpp>

namespace seqtrain::text {

/// Maps whole words to ids, their indexes in a list. A word that is not in the list gets the id of
/// the unknown word.
class WholeWords {
 public:
  using Ids = std::unordered_map<std::string, Id, StringHash, std::equal_to<>>;

  WholeWords(Ids ids, Id unknown) : ids_{std::move(ids)}, unknown_{unknown} {}

  /// Appends the id of a word, or that of the unknown word.
  void encode_word(std::string_view word, std::vector<Id>& out) const {
    const auto found = ids_.find(word);
    out.push_back(found == ids_.end() ? unknown_ : found->second);
  }

 private:
  Ids ids_;
  Id unknown_;
};

/// The stages of AWD-LSTM's tokenizer.
using WordPipeline = Pipeline<WordMarks, WordSplitter, WholeWords>;

/// The tokenizer of AWD-LSTM models: words with marks. A text becomes `xxbos A`, a pair `xxbos A
/// xxfld B`.
using WordTokenizer = BasicTokenizer<WordPipeline>;

static_assert(Tokenizer<WordTokenizer>);

/// The word with which fastai pads a vocabulary. It may be repeated and never gets an id.
inline constexpr std::string_view filler_word = "xxfake";

/// Returns the tokenizer of a list of words. Throws `InputError` if a mark is missing or a word is
/// repeated.
[[nodiscard]] inline WordTokenizer make_word_tokenizer(const std::vector<std::string>& words) {
  WholeWords::Ids ids;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == filler_word || ids.emplace(words[i], static_cast<Id>(i)).second) continue;
    throw InputError{"the word '" + words[i] + "' is repeated",
                     {.line = static_cast<std::int64_t>(i) + 1}};
  }
  const auto id = [&ids](std::string_view mark) {
    if (const auto found = ids.find(mark); found != ids.end()) return found->second;
    throw InputError{"the vocabulary has no " + std::string{mark}};
  };
  const Id unknown = id(Mark::unknown);
  const Id begin = id(Mark::begin);
  const Templates templates{
      .single = {.before = {begin}},
      .pair = {.before = {begin},
               .between = {ids.contains(Mark::field) ? id(Mark::field) : begin}}};
  const Id padding = id(Mark::padding);
  return {WordPipeline{{}, {}, {std::move(ids), unknown}},
          {.templates = templates, .pad_id = padding, .vocab_size = words.size(), .names = words}};
}

}  // namespace seqtrain::text
