#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <simdjson.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/text/loading/parts_json.hpp>
#include <seqtrain/text/loading/vocabulary.hpp>
#include <seqtrain/text/models/bpe.hpp>
#include <seqtrain/text/models/character_bpe.hpp>
#include <seqtrain/text/models/unigram.hpp>
#include <seqtrain/text/models/wordpiece.hpp>

namespace seqtrain::text::detail {

/// Returns the type of a model. Older files have no type, so it follows from the members.
[[nodiscard]] inline std::string_view model_name(const json::Value& model) {
  if (const auto type = model.find("type")) return type->string();
  if (model.find("merges")) return "BPE";
  return model.find("continuing_subword_prefix") || !model.at("vocab").is_array() ? "WordPiece"
                                                                                  : "Unigram";
}

[[nodiscard]] inline std::optional<std::string> find_string(const json::Value& object,
                                                            std::string_view key) {
  const auto value = object.find(key);
  return value ? std::optional{std::string{value->string()}} : std::nullopt;
}

[[nodiscard]] inline WordPiece read_wordpiece(const json::Value& model,
                                              const Vocabulary& vocabulary) {
  WordPieceOptions options;
  if (auto token = find_string(model, "unk_token")) options.unknown_token = *std::move(token);
  if (auto prefix = find_string(model, "continuing_subword_prefix")) {
    options.continuing_prefix = *std::move(prefix);
  }
  if (const auto longest = model.find("max_input_chars_per_word")) {
    if (longest->integer() < 0) refuse(*longest, "numbers from 0");
    options.max_characters = static_cast<std::size_t>(longest->integer());
  }
  return WordPiece{vocabulary.entries(), options};
}

[[nodiscard]] inline std::optional<Bpe::Pair> read_merge(simdjson::dom::element element) {
  std::string_view text;
  if (element.get(text) == simdjson::SUCCESS) return split_merge(text);
  simdjson::dom::array pair;
  Bpe::Pair merge;
  if (element.get(pair) != simdjson::SUCCESS || pair.size() != 2 ||
      pair.at(0).get(merge.first) != simdjson::SUCCESS ||
      pair.at(1).get(merge.second) != simdjson::SUCCESS) {
    return {};
  }
  return merge;
}

/// Reads merges: strings "left right" in older files, pairs in newer ones.
[[nodiscard]] inline std::vector<Bpe::Pair> read_merges(const json::Value& value) {
  simdjson::dom::array array;
  if (value.element().get(array) != simdjson::SUCCESS) throw value.error("expected an array");
  std::vector<Bpe::Pair> merges;
  for (const simdjson::dom::element element : array) {
    const auto merge = read_merge(element);
    if (!merge)
      throw value.error("merge " + std::to_string(merges.size()) + " is not a pair of tokens");
    merges.push_back(*merge);
  }
  return merges;
}

inline void check_dropout(const json::Value& model) {
  const auto dropout = model.find("dropout");
  if (dropout && dropout->number() != 0) refuse(*dropout, "null");
}

[[nodiscard]] inline Bpe read_bpe(const json::Value& model, const Vocabulary& vocabulary) {
  check_dropout(model);
  for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const auto value = model.find(affix);
    if (value && !value->string().empty()) refuse(*value, "none");
  }
  if (flag_of(model, "byte_fallback", false)) refuse(model.at("byte_fallback"), "false");
  return Bpe{vocabulary.entries(),
             read_merges(model.at("merges")),
             {.unknown_token = find_string(model, "unk_token"),
              .fuse_unknown = flag_of(model, "fuse_unk", false),
              .ignore_merges = flag_of(model, "ignore_merges", false)}};
}

[[nodiscard]] inline CharacterBpe read_character_bpe(const json::Value& model,
                                                     const Vocabulary& vocabulary) {
  check_dropout(model);
  const auto text = [&](const char* key) { return find_string(model, key).value_or(""); };
  return CharacterBpe{vocabulary.entries(),
                      read_merges(model.at("merges")),
                      {.unknown_token = find_string(model, "unk_token"),
                       .continuing_prefix = text("continuing_subword_prefix"),
                       .end_suffix = text("end_of_word_suffix"),
                       .fuse_unknown = flag_of(model, "fuse_unk", false),
                       .byte_fallback = flag_of(model, "byte_fallback", false),
                       .ignore_merges = flag_of(model, "ignore_merges", false)}};
}

/// Reads pairs of a piece and its score. If a piece is repeated the last one counts, as in the
/// reference.
[[nodiscard]] inline std::vector<Unigram::Piece> read_pieces(const json::Value& value) {
  simdjson::dom::array array;
  if (value.element().get(array) != simdjson::SUCCESS) throw value.error("expected an array");
  std::vector<Unigram::Piece> pieces;
  for (const simdjson::dom::element element : array) {
    simdjson::dom::array pair;
    std::string_view piece;
    double score = 0;
    if (element.get(pair) != simdjson::SUCCESS || pair.size() != 2 ||
        pair.at(0).get(piece) != simdjson::SUCCESS || pair.at(1).get(score) != simdjson::SUCCESS) {
      throw value.error("entry " + std::to_string(pieces.size()) +
                        " is not a pair of a piece and a score");
    }
    pieces.emplace_back(piece, score);
  }
  return pieces;
}

}  // namespace seqtrain::text::detail
