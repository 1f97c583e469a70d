#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/text/loading/protocol_buffer.hpp>
#include <seqtrain/text/models/sentence_pieces.hpp>
#include <seqtrain/text/normalizers/sentence_piece_normalizer.hpp>
#include <seqtrain/text/sentence_piece_pipeline.hpp>

namespace seqtrain::text {

/// The contents of a SentencePiece `.model` file that encoding needs.
struct SentencePieceModel {
  std::vector<SentencePiece> pieces = {};
  SentencePieceRules rules = {};
  SentencePieceAlgorithm algorithm = SentencePieceAlgorithm::unigram;
  bool byte_fallback = false;
  std::int64_t unknown = 0;       ///< id of the unknown piece
  std::string begin = "<s>";      ///< name of the control symbol, which the pieces may lack
  std::string padding = "<pad>";  ///< name of the padding symbol, which the pieces may lack

  /// Returns the pipeline of the model. Throws `InputError` if the pieces contradict each other.
  [[nodiscard]] SentencePiecePipeline pipeline() && {
    return {SentencePieces{std::move(pieces), byte_fallback}, std::move(rules), algorithm};
  }
};

namespace detail {

/// Reads the messages of sentencepiece_model.proto.
class SentencePieceReader {
 public:
  [[nodiscard]] SentencePieceModel read(std::string_view bytes) && {
    ProtocolReader{bytes}.for_each([&](const ProtocolField& field) {
      if (field.number() == 1) model_.pieces.push_back(read_piece(field));
      if (field.number() == 2) read_training(field);
      if (field.number() == 3) read_normalization(field);
    });
    if (!characters_.empty()) read_characters();
    return std::move(model_);
  }

 private:
  SentencePiece read_piece(const ProtocolField& message) {
    SentencePiece piece;
    ProtocolReader{message}.for_each([&](const ProtocolField& field) {
      if (field.number() == 1) piece.text = field.bytes();
      if (field.number() == 2) piece.score = field.number32();
      if (field.number() != 3) return;
      if (field.integer() < 1 || field.integer() > 6) {
        throw field.error("is not a type of a piece: " + std::to_string(field.integer()));
      }
      piece.type = static_cast<SentencePiece::Type>(field.integer());
    });
    return piece;
  }

  void read_training(const ProtocolField& message) {
    ProtocolReader{message}.for_each([&](const ProtocolField& field) {
      if (field.number() == 3) read_algorithm(field);
      if (field.number() == 24) model_.rules.whitespace_is_suffix = field.boolean();
      if (field.number() == 40) model_.unknown = static_cast<std::int64_t>(field.integer());
      if (field.number() == 35) model_.byte_fallback = field.boolean();
      if (field.number() == 46 && !field.bytes().empty()) model_.begin = field.bytes();
      if (field.number() == 48 && !field.bytes().empty()) model_.padding = field.bytes();
    });
  }

  void read_algorithm(const ProtocolField& field) {
    constexpr std::uint64_t unigram = 1, bpe = 2, word = 3, character = 4;
    const std::uint64_t type = field.integer();
    if (type == word || type == character) {
      throw InputError{"models of type " + std::string{type == word ? "word" : "char"} +
                       " are not supported; supported: unigram and bpe"};
    }
    if (type != unigram && type != bpe) {
      throw field.error("is not a type of a model: " + std::to_string(type));
    }
    model_.algorithm = type == bpe ? SentencePieceAlgorithm::bpe : SentencePieceAlgorithm::unigram;
  }

  void read_normalization(const ProtocolField& message) {
    ProtocolReader{message}.for_each([&](const ProtocolField& field) {
      auto& rules = model_.rules;
      if (field.number() == 2) {
        characters_ = field.bytes();
        characters_place_ = field.place();
      }
      if (field.number() == 3) rules.add_dummy_prefix = field.boolean();
      if (field.number() == 4) rules.remove_extra_whitespaces = field.boolean();
      if (field.number() == 5) rules.escape_whitespaces = field.boolean();
    });
  }

  void read_characters() {
    try {
      model_.rules.characters.emplace(characters_);
    } catch (const InputError& error) {
      throw InputError{error.what() + std::string{" (it begins at byte "} +
                       std::to_string(characters_place_) + ")"};
    }
  }

  SentencePieceModel model_;
  std::string_view characters_;
  std::size_t characters_place_ = 0;
};

}  // namespace detail

/// Parses the bytes of a `.model` file. Throws `InputError` with the offset in bytes if the file is
/// damaged, or if the type of the model is not supported.
[[nodiscard]] inline SentencePieceModel parse_sentence_piece_model(std::string_view bytes) {
  return detail::SentencePieceReader{}.read(bytes);
}

}  // namespace seqtrain::text
