#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/models/sentence_piece_bpe.hpp>
#include <seqtrain/text/models/sentence_piece_unigram.hpp>
#include <seqtrain/text/models/sentence_pieces.hpp>
#include <seqtrain/text/normalizers/sentence_piece_normalizer.hpp>

namespace seqtrain::text {

/// The algorithm by which a SentencePiece model cuts texts.
enum class SentencePieceAlgorithm { unigram, bpe };

/// Turns a text into the ids that SentencePiece gives with an equal model.
class SentencePiecePipeline {
 public:
  /// One thread's working memory. Several pipelines may use it in turn.
  class Scratch {
    friend SentencePiecePipeline;

    std::string normal_form_;
    std::vector<PieceOfText> cut_;
    SentencePieceUnigram::Scratch steps_;
    SentencePieceBpe::Scratch symbols_;
  };

  SentencePiecePipeline(SentencePieces pieces, SentencePieceRules rules,
                        SentencePieceAlgorithm algorithm)
      : pieces_{std::move(pieces)},
        normalizer_{std::move(rules), pieces_},
        model_{algorithm == SentencePieceAlgorithm::bpe ? Model{SentencePieceBpe{}}
                                                        : Model{SentencePieceUnigram{pieces_}}} {}

  /// Appends the ids of `text`, which must be valid UTF-8. It ignores `limit`, because each id
  /// depends on the whole text.
  void encode(std::string_view text, std::size_t limit, Scratch& scratch,
              std::vector<Id>& out) const {
    encode_normalized(normalize(text, scratch), limit, scratch, out);
  }

  /// Returns the normal form of `text`. The view is valid until `scratch` is used again.
  [[nodiscard]] std::string_view normalize(std::string_view text, Scratch& scratch) const {
    scratch.normal_form_.clear();
    normalizer_.normalize(text, pieces_, scratch.normal_form_);
    return scratch.normal_form_;
  }

  /// Appends the ids of a text that is already in its normal form.
  void encode_normalized(std::string_view text, std::size_t, Scratch& scratch,
                         std::vector<Id>& out) const {
    if (text.size() >= std::numeric_limits<std::uint32_t>::max()) {
      throw InputError{"texts of 4 GiB and more are not supported"};
    }
    scratch.cut_.clear();
    if (const auto* unigram = std::get_if<SentencePieceUnigram>(&model_)) {
      unigram->cut(text, pieces_, scratch.steps_, scratch.cut_);
    } else {
      SentencePieceBpe{}.cut(text, pieces_, scratch.symbols_, scratch.cut_);
    }
    pieces_.append_ids(scratch.cut_, out);
  }

  [[nodiscard]] const SentencePieces& pieces() const noexcept { return pieces_; }

 private:
  using Model = std::variant<SentencePieceBpe, SentencePieceUnigram>;

  SentencePieces pieces_;
  SentencePieceNormalizer normalizer_;
  Model model_;
};

}  // namespace seqtrain::text
