#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/loading/sentence_piece_model.hpp>
#include <seqtrain/text/normalizers/word_marks.hpp>
#include <seqtrain/text/sentence_piece_pipeline.hpp>
#include <seqtrain/text/tokenizer.hpp>

namespace seqtrain::text {

/// A pipeline of `text::BasicTokenizer` that cuts text into subwords by a SentencePiece model,
/// unigram (Kudo 2018) or BPE. Ids are the model's own. If the model has pieces for fastai's marks,
/// texts get marks first; otherwise they are cut unchanged.
class Pieces {
 public:
  /// One thread's working memory.
  struct Scratch {
    std::string marked_text = {};
    text::SentencePiecePipeline::Scratch pieces = {};
  };

  explicit Pieces(text::SentencePiecePipeline pipeline) : pipeline_{std::move(pipeline)} {
    marks_ = id_of(text::Mark::capitalized, -1) >= 0;
  }

  /// Appends the ids of `text`, which must be valid UTF-8.
  void encode(std::string_view text, std::size_t limit, Scratch& scratch,
              std::vector<text::Id>& out) const {
    encode_normalized(normalize(text, scratch), limit, scratch, out);
  }

  /// Returns the text with marks if the model has pieces for them. The view is valid until
  /// `scratch` is used again.
  [[nodiscard]] std::string_view normalize(std::string_view text, Scratch& scratch) const {
    if (!marks_) return text;
    scratch.marked_text.clear();
    text::WordMarks{}.normalize(text, scratch.marked_text);
    return scratch.marked_text;
  }

  /// Appends the ids of a text that already has its marks. It ignores `limit`, because each id
  /// depends on the whole text.
  void encode_normalized(std::string_view text, std::size_t limit, Scratch& scratch,
                         std::vector<text::Id>& out) const {
    pipeline_.encode(text, limit, scratch.pieces, out);
  }

  [[nodiscard]] std::size_t size() const { return pipeline_.pieces().size(); }

  /// Returns the text of each id, with ▁ for the space before a word.
  [[nodiscard]] std::vector<std::string> texts() const {
    std::vector<std::string> texts;
    for (const auto& piece : pipeline_.pieces().all()) texts.push_back(piece.text);
    return texts;
  }

  /// Returns the id of fastai's piece for a mark, or `otherwise` if the model has none.
  [[nodiscard]] text::Id id_of(std::string_view mark, text::Id otherwise) const {
    const text::Id id = pipeline_.pieces().find("▁" + std::string{mark});
    return id < 0 || id == unknown_id() ? otherwise : id;
  }

  /// Returns the id of a control symbol, or `otherwise` if the model has none with this name.
  [[nodiscard]] text::Id control_id(std::string_view symbol, text::Id otherwise) const {
    const text::Id id = pipeline_.pieces().find(symbol);
    const bool found = id >= 0 && pipeline_.pieces()[id].type == text::SentencePiece::Type::control;
    return found ? id : otherwise;
  }

  [[nodiscard]] text::Id unknown_id() const { return pipeline_.pieces().unknown(); }

 private:
  text::SentencePiecePipeline pipeline_;
  bool marks_ = false;
};

/// The tokenizer of a SentencePiece model. A text becomes `xxbos A`, a pair `xxbos A xxfld B`. If
/// the model has no such pieces they become `<s>A` and `<s>A<s>B`.
using SubwordTokenizer = text::BasicTokenizer<Pieces>;

static_assert(text::Tokenizer<SubwordTokenizer>);

namespace detail {

/// Returns the tokenizer of a parsed model.
[[nodiscard]] inline SubwordTokenizer make_subword_tokenizer(text::SentencePieceModel model) {
  const std::string begin_symbol = model.begin;
  const std::string padding_symbol = model.padding;
  Pieces pieces{std::move(model).pipeline()};
  const text::Id begin = pieces.id_of(text::Mark::begin, pieces.control_id(begin_symbol, -1));
  if (begin < 0) throw InputError{"has neither xxbos nor <s>"};
  const text::Id between = pieces.id_of(text::Mark::field, begin);
  const text::Id unpadded = pieces.control_id(padding_symbol, pieces.unknown_id());
  const text::Id padding = pieces.id_of(text::Mark::padding, unpadded);
  const std::size_t size = pieces.size();
  auto names = pieces.texts();
  return {std::move(pieces),
          {.templates = {.single = {.before = {begin}},
                         .pair = {.before = {begin}, .between = {between}}},
           .pad_id = padding,
           .vocab_size = size,
           .names = std::move(names)}};
}

}  // namespace detail

/// Reads the tokenizer of a `.model` file. Batches are padded with its padding piece, or with the
/// unknown piece if there is none. Throws `InputError` if the file is damaged, or if it has no
/// piece with which a text begins.
[[nodiscard]] inline SubwordTokenizer load_subwords(const std::filesystem::path& path) {
  const MappedFile file{path};
  try {
    return detail::make_subword_tokenizer(text::parse_sentence_piece_model(file.text()));
  } catch (const InputError& error) {
    throw InputError{std::string{"is not a SentencePiece model that can be used: "} + error.what(),
                     {.object = path.string()}};
  }
}

}  // namespace seqtrain::text
