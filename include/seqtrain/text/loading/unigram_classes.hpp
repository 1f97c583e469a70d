#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/text/loading/class_parts.hpp>
#include <seqtrain/text/loading/models_json.hpp>
#include <seqtrain/text/loading/sentence_piece_model.hpp>
#include <seqtrain/text/loading/template_json.hpp>
#include <seqtrain/text/loading/tokenizer_folder.hpp>
#include <seqtrain/text/loading/vocabulary.hpp>
#include <seqtrain/text/tokenizer.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {
namespace detail {

/// The pieces of a Unigram model, and what a class takes from the file that they are in.
struct UnigramFile {
  std::vector<Unigram::Piece> pieces = {};
  std::int64_t unknown = 1;  ///< index of the unknown piece, for a class that asks for it
  std::optional<CharacterMap> characters = {};
  std::optional<Templates> templates = {};  ///< the templates of tokenizer.json
};

/// Returns the first compiled normalization rules among the normalizers of tokenizer.json.
[[nodiscard]] inline std::optional<CharacterMap> find_character_map(const json::Value& tokenizer) {
  const auto normalizer = tokenizer.find("normalizer");
  if (!normalizer) return {};
  const auto list = normalizer->find("normalizers");
  for (const auto& part : list ? list->items() : std::vector{*normalizer}) {
    if (part.at("type").string() != "Precompiled") continue;
    std::vector<Normalizer> read;
    read_normalizer(part, read);
    return std::get<CharacterMap>(read.front());
  }
  return {};
}

[[nodiscard]] inline UnigramFile read_unigram_json(const json::Value& tokenizer,
                                                   const TokenizerFolder& folder) {
  UnigramFile file;
  file.pieces = read_pieces(model_of(tokenizer, "Unigram").at("vocab"));
  file.characters = find_character_map(tokenizer);
  if (const auto processor = tokenizer.find("post_processor")) {
    file.templates = read_templates(*processor);
  }
  if (const auto unknown = folder.setting("unk_id")) file.unknown = unknown->integer();
  return file;
}

/// Reads a SentencePiece model. Its control and user-defined pieces become added tokens.
[[nodiscard]] inline UnigramFile read_unigram_model(std::string_view name, ClassParts& parts) {
  const MappedFile bytes{parts.folder().at(name)};
  SentencePieceModel model = parse_sentence_piece_model(bytes.text());
  if (model.algorithm != SentencePieceAlgorithm::unigram) {
    throw InputError{"the class of the tokenizer takes a unigram model"};
  }
  UnigramFile file{.unknown = model.unknown, .characters = std::move(model.rules.characters)};
  std::vector<DeclaredToken> added;
  for (const auto& [text, score, type] : model.pieces) {
    if (!is_valid_utf8(text)) {
      throw InputError{"piece " + std::to_string(file.pieces.size()) + " is not UTF-8"};
    }
    file.pieces.emplace_back(text, score);
    const bool control = type == SentencePiece::Type::control;
    if (!control && type != SentencePiece::Type::user_defined) continue;
    added.push_back({.content = text, .special = control, .normalized = false});
  }
  parts.special().set_additional(std::move(added));
  return file;
}

/// Reads tokenizer.json, else the SentencePiece model. transformers prefers tokenizer.model to the
/// class's own name of it.
[[nodiscard]] inline UnigramFile read_unigram(std::string_view name, ClassParts& parts) {
  const auto& folder = parts.folder();
  if (const auto tokenizer = folder.tokenizer()) return read_unigram_json(*tokenizer, folder);
  if (folder.has("tokenizer.model")) name = "tokenizer.model";
  try {
    return read_unigram_model(name, parts);
  } catch (const InputError& error) {
    if (!error.where().object.empty()) throw;
    throw InputError{error.what(), {.object = (folder.path() / name).string()}};
  }
}

/// Replaces the first `count` pieces.
inline void replace_first(std::vector<Unigram::Piece>& pieces, std::ptrdiff_t count,
                          const std::vector<Unigram::Piece>& others) {
  pieces.erase(pieces.begin(), pieces.begin() + std::min(count, std::ssize(pieces)));
  pieces.insert(pieces.begin(), others.begin(), others.end());
}

/// Returns the index of a piece, or `otherwise`.
template <class Value, class Projection>
[[nodiscard]] std::int64_t index_of(const std::vector<Unigram::Piece>& pieces, const Value& value,
                                    Projection projection, std::int64_t otherwise) {
  const auto found = std::ranges::find(pieces, value, projection);
  return found == pieces.end() ? otherwise : found - pieces.begin();
}

/// Makes a tokenizer of a file. `templates` is called with the vocabulary when all tokens have ids.
template <class Fn>
[[nodiscard]] AssembledTokenizer make_unigram(const ClassParts& parts, const UnigramFile& file,
                                              std::vector<Normalizer> normalizers,
                                              std::vector<PreTokenizer> splitters,
                                              const Fn& templates) {
  Vocabulary vocabulary{NewIds::after_all};
  for (const auto& piece : file.pieces) {
    vocabulary.add(piece.first, std::ssize(vocabulary.entries()));
  }
  if (file.unknown < 0 || file.unknown >= std::ssize(file.pieces)) {
    throw InputError{"the vocabulary has no unknown piece"};
  }
  Unigram model{file.pieces, {.unknown = static_cast<Id>(file.unknown)}};
  TokenizerOptions options = parts.surround(vocabulary);
  options.templates = templates(vocabulary);
  return {{NormalizerSequence{std::move(normalizers)}, PreTokenizerSequence{std::move(splitters)},
           std::move(model)},
          std::move(options)};
}

/// Returns the splitters of XLM-RoBERTa, CamemBERT and ALBERT.
[[nodiscard]] inline std::vector<PreTokenizer> spaced_pieces(const ClassParts& parts) {
  const bool prefix = parts.flag("add_prefix_space", true);
  return {PatternSplitter{PatternSplitter::Kind::whitespace, Delimiter::removed, false},
          Metaspace{.scheme = prefix ? Metaspace::Scheme::always : Metaspace::Scheme::never}};
}

[[nodiscard]] inline AssembledTokenizer make_xlm_roberta(const ClassParts& parts,
                                                         const UnigramFile& file) {
  std::vector<Normalizer> normalizers;
  if (file.characters) normalizers.emplace_back(*file.characters);
  return make_unigram(parts, file, std::move(normalizers), spaced_pieces(parts),
                      [&](const Vocabulary& vocabulary) {
                        return roberta_templates(parts.id(vocabulary, "bos_token"),
                                                 parts.id(vocabulary, "eos_token"));
                      });
}

/// Returns the templates of a class that follows `add_bos_token` and `add_eos_token`.
[[nodiscard]] inline Templates bos_eos_templates(const ClassParts& parts,
                                                 const Vocabulary& vocabulary) {
  std::vector<Id> bos, eos;
  if (parts.flag("add_bos_token", false)) bos.push_back(parts.id(vocabulary, "bos_token"));
  if (parts.flag("add_eos_token", false)) eos.push_back(parts.id(vocabulary, "eos_token"));
  std::vector<Id> between = eos;
  between.insert(between.end(), bos.begin(), bos.end());
  return {
      .single = {.before = bos, .after = eos},
      .pair = {.before = bos, .between = between, .after = eos, .type_zero_between = eos.size()}};
}

}  // namespace detail

/// Reads a folder as the class XLMRobertaTokenizer, from tokenizer.json or a SentencePiece model.
/// Throws `InputError` if a file is damaged.
[[nodiscard]] inline AssembledTokenizer read_xlm_roberta_class(const TokenizerFolder& folder) {
  detail::ClassParts parts{folder};
  parts.fall_back_to_roberta();
  auto file = detail::read_unigram("sentencepiece.bpe.model", parts);
  file.unknown = 3;
  if (!folder.tokenizer()) {
    const auto piece = [&](const char* role) {
      return Unigram::Piece{parts.special().at(role), 0};
    };
    detail::replace_first(
        file.pieces, 3,
        {piece("bos_token"), piece("pad_token"), piece("eos_token"), piece("unk_token")});
    file.pieces.push_back(piece("mask_token"));
  }
  return detail::make_xlm_roberta(parts, file);
}

/// Reads a folder as the class CamembertTokenizer, from tokenizer.json or a SentencePiece model.
/// Throws `InputError` if a file is damaged.
[[nodiscard]] inline AssembledTokenizer read_camembert_class(const TokenizerFolder& folder) {
  detail::ClassParts parts{folder};
  parts.fall_back_to_roberta();
  parts.special().let_mask_take_spaces();
  auto file = detail::read_unigram("sentencepiece.bpe.model", parts);
  if (!folder.tokenizer()) {
    const auto piece = [&](const char* role) {
      return Unigram::Piece{parts.special().at(role), 0};
    };
    detail::replace_first(file.pieces, 1,
                          {{"<s>NOTUSED", 0},
                           piece("pad_token"),
                           {"</s>NOTUSED", 0},
                           piece("unk_token"),
                           {"<unk>NOTUSED", -100}});
    file.pieces.push_back(piece("mask_token"));
  }
  if (!parts.special().has_additional()) {
    std::vector<DeclaredToken> unused;
    for (const char* content : {"<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"}) {
      unused.push_back({.content = content, .is_string = true});
    }
    parts.special().set_additional(std::move(unused));
  }
  file.unknown =
      detail::index_of(file.pieces, parts.special().at("unk_token"), &Unigram::Piece::first, 0);
  return detail::make_xlm_roberta(parts, file);
}

/// Reads a folder as the class AlbertTokenizer, from tokenizer.json or a SentencePiece model.
/// Throws `InputError` if a file is damaged.
[[nodiscard]] inline AssembledTokenizer read_albert_class(const TokenizerFolder& folder) {
  detail::ClassParts parts{folder};
  parts.fall_back({{"bos_token", "[CLS]"}, {"eos_token", "[SEP]"}});
  parts.fall_back({{"unk_token", "<unk>"}, {"pad_token", "<pad>"}});
  parts.fall_back_to_bert();
  auto file = detail::read_unigram("spiece.model", parts);
  file.unknown = 1;
  std::vector<Normalizer> normalizers{Replace{.text_pattern = "``", .content = "\""},
                                      Replace{.text_pattern = "''", .content = "\""}};
  if (!parts.flag("keep_accents", false)) {
    normalizers.insert(normalizers.end(), {UnicodeNormalizer{NormalForm::nfkd}, StripAccents{}});
  }
  if (parts.flag("do_lower_case", true)) normalizers.emplace_back(Lowercase{});
  if (file.characters) normalizers.emplace_back(*file.characters);
  return detail::make_unigram(parts, file, std::move(normalizers), detail::spaced_pieces(parts),
                              [&](const Vocabulary& vocabulary) {
                                const bool follows =
                                    folder.flag("add_bos_token") || folder.flag("add_eos_token");
                                if (follows && !folder.tokenizer())
                                  return detail::bos_eos_templates(parts, vocabulary);
                                return file.templates ? *file.templates : parts.bert(vocabulary);
                              });
}

/// Reads a folder as the class DebertaV2Tokenizer, from tokenizer.json or a SentencePiece model.
/// Throws `InputError` if a file is damaged.
[[nodiscard]] inline AssembledTokenizer read_deberta_v2_class(const TokenizerFolder& folder) {
  detail::ClassParts parts{folder};
  parts.fall_back({{"bos_token", "[CLS]"}, {"eos_token", "[SEP]"}});
  parts.fall_back_to_bert();
  auto file = detail::read_unigram("spm.model", parts);
  file.unknown = detail::index_of(file.pieces, Unigram::Piece{parts.special().at("unk_token"), 0},
                                  std::identity{}, file.unknown);
  std::vector<Normalizer> normalizers;
  if (parts.flag("do_lower_case", false)) normalizers.emplace_back(Lowercase{});
  normalizers.emplace_back(Replace{.pattern = Replace::Pattern::blanks, .content = " "});
  normalizers.emplace_back(UnicodeNormalizer{NormalForm::nfc});
  normalizers.emplace_back(StripWhitespace{.left = false});
  std::vector<PreTokenizer> splitters;
  if (parts.flag("split_by_punct", false)) {
    splitters.emplace_back(
        PatternSplitter{PatternSplitter::Kind::punctuation, Delimiter::isolated, false});
  }
  const bool prefix = parts.flag("add_prefix_space", true);
  splitters.emplace_back(
      Metaspace{.scheme = prefix ? Metaspace::Scheme::always : Metaspace::Scheme::first});
  return detail::make_unigram(parts, file, std::move(normalizers), std::move(splitters),
                              [&](const Vocabulary& vocabulary) { return parts.bert(vocabulary); });
}

}  // namespace seqtrain::text
