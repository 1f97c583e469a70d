#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sentencepiece_processor.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/subwords/check_model.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/normalizers/word_marks.hpp>
#include <seqtrain/text/tokenizer.hpp>

namespace seqtrain::subwords {

/// Subwords by a SentencePiece model, unigram (Kudo 2018) or BPE: a pipeline for
/// `text::BasicTokenizer`. Ids are the model's own. A model that has pieces for fastai's marks is
/// shown texts with marks, any other texts as they are.
class Pieces {
 public:
  using Model = sentencepiece::SentencePieceProcessor;

  /// One thread's working memory.
  struct Scratch {
    std::string normal_form = {};
    std::vector<int> ids = {};
  };

  explicit Pieces(std::unique_ptr<const Model> model) : model_{std::move(model)} {
    marks_ = id_of(text::Mark::capitalized, -1) >= 0;
  }

  /// Appends the ids of `text`, which must be valid UTF-8.
  void encode(std::string_view text, std::size_t limit, Scratch& scratch,
              std::vector<text::Id>& out) const {
    encode_normalized(normalize(text, scratch), limit, scratch, out);
  }

  /// The text with marks where the model knows them, valid until `scratch` is used again.
  [[nodiscard]] std::string_view normalize(std::string_view text, Scratch& scratch) const {
    if (!marks_) return text;
    scratch.normal_form.clear();
    text::WordMarks{}.normalize(text, scratch.normal_form);
    return scratch.normal_form;
  }

  /// `encode` for text in its normal form. Cutting depends on all of it: no limit makes it shorter.
  void encode_normalized(std::string_view text, std::size_t, Scratch& scratch,
                         std::vector<text::Id>& out) const {
    if (const auto status = model_->Encode(text, &scratch.ids); !status.ok()) {
      throw Error{"SentencePiece cannot cut a text: " + status.ToString()};
    }
    out.insert(out.end(), scratch.ids.begin(), scratch.ids.end());
  }

  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(model_->GetPieceSize());
  }
  [[nodiscard]] const Model& model() const { return *model_; }

  /// What each id stands for, with ▁ for the space before a word.
  [[nodiscard]] std::vector<std::string> texts() const {
    std::vector<std::string> texts;
    for (int id = 0; id < model_->GetPieceSize(); ++id) texts.push_back(model_->IdToPiece(id));
    return texts;
  }

  /// The id of fastai's piece for a mark, or `otherwise` where the model has none.
  [[nodiscard]] text::Id id_of(std::string_view mark, text::Id otherwise) const {
    const text::Id id = model_->PieceToId("▁" + std::string{mark});
    return model_->IsUnknown(id) ? otherwise : id;
  }

 private:
  std::unique_ptr<const Model> model_;
  bool marks_ = false;
};

/// A text is `xxbos A`, a pair `xxbos A xxfld B`; by a model that has no such pieces `<s>A` and
/// `<s>A<s>B`.
using SubwordTokenizer = text::BasicTokenizer<Pieces>;

static_assert(text::Tokenizer<SubwordTokenizer>);

/// The tokenizer of a `.model` file. Batches are filled up with its piece for padding, or with the
/// unknown one where it has none. Throws `InputError` where it is damaged, and where it has no
/// piece to begin a text with.
[[nodiscard]] inline SubwordTokenizer load_subwords(const std::filesystem::path& path) {
  const MappedFile file{path};
  detail::check_model(file.text(), path.string());
  auto model = std::make_unique<Pieces::Model>();
  if (const auto status = model->LoadFromSerializedProto(file.text()); !status.ok()) {
    throw InputError{"is no SentencePiece model: " + status.ToString(), {.object = path.string()}};
  }
  Pieces pieces{std::move(model)};
  const text::Id begin = pieces.id_of(text::Mark::begin, pieces.model().bos_id());
  if (begin < 0) throw InputError{"has no xxbos and no <s>", {.object = path.string()}};
  const text::Id between = pieces.id_of(text::Mark::field, begin);
  const text::Id unpadded = std::max(pieces.model().pad_id(), pieces.model().unk_id());
  const text::Id padding = pieces.id_of(text::Mark::padding, unpadded);
  if (padding < 0) throw InputError{"has no unknown piece", {.object = path.string()}};
  const std::size_t size = pieces.size();
  auto names = pieces.texts();
  return {std::move(pieces),
          {.templates = {.single = {.before = {begin}},
                         .pair = {.before = {begin}, .between = {between}}},
           .pad_id = padding,
           .vocab_size = size,
           .names = std::move(names)}};
}

}  // namespace seqtrain::subwords
