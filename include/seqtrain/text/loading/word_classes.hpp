#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/text/loading/class_parts.hpp>
#include <seqtrain/text/loading/models_json.hpp>
#include <seqtrain/text/loading/tokenizer_folder.hpp>
#include <seqtrain/text/loading/vocabulary.hpp>
#include <seqtrain/text/tokenizer.hpp>
#include <seqtrain/text/unicode/unicode.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {
namespace detail {

[[nodiscard]] inline std::string_view without_spaces_at_end(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_whitespace(decode(text, i))) end = i;
  }
  return text.substr(0, end);
}

/// Reads a vocab.txt, which has one token a line.
[[nodiscard]] inline Vocabulary read_vocab_lines(const MappedFile& file,
                                                 const std::filesystem::path& path) {
  Vocabulary vocabulary;
  for_each_line(file, path, [&](std::string_view token, std::int64_t line) {
    vocabulary.add(without_spaces_at_end(token), line - 1);
  });
  return vocabulary;
}

[[nodiscard]] inline std::vector<Bpe::Pair> read_merge_lines(const MappedFile& file,
                                                             const std::filesystem::path& path) {
  std::vector<Bpe::Pair> merges;
  for_each_line(file, path, [&](std::string_view line, std::int64_t number) {
    if (line.starts_with("#version")) return;
    const auto merge = split_merge(line);
    if (!merge)
      throw InputError{"expected two tokens with a space between them",
                       {.object = path.string(), .line = number}};
    merges.push_back(*merge);
  });
  return merges;
}

/// Makes BERT's pipeline from the vocabulary of tokenizer.json or vocab.txt. `templates` is called
/// with the vocabulary when all tokens have ids.
template <class Fn>
[[nodiscard]] BertTokenizer read_wordpiece_class(const ClassParts& parts, const Fn& templates) {
  const auto tokenizer = parts.folder().tokenizer();
  std::optional<MappedFile> file;
  if (!tokenizer) file.emplace(parts.folder().at("vocab.txt"));
  Vocabulary vocabulary = tokenizer ? read_vocabulary(model_of(*tokenizer, "WordPiece").at("vocab"))
                                    : read_vocab_lines(*file, parts.folder().at("vocab.txt"));
  const BertNormalizer normalizer{
      .handle_chinese_chars = parts.flag("tokenize_chinese_chars", true),
      .lowercase = parts.flag("do_lower_case", true),
      .strip_accents = parts.folder().flag("strip_accents")};
  WordPiece model{vocabulary.entries(), {.unknown_token = parts.special().at("unk_token")}};
  TokenizerOptions options = parts.surround(vocabulary);
  options.templates = templates(vocabulary);
  return {{normalizer, BertSplitter{}, std::move(model)}, std::move(options)};
}

[[nodiscard]] inline RobertaTokenizer make_roberta(const ClassParts& parts, Vocabulary& vocabulary,
                                                   const std::vector<Bpe::Pair>& merges) {
  Bpe model{vocabulary.entries(), merges};
  TokenizerOptions options = parts.surround(vocabulary);
  options.templates =
      roberta_templates(parts.id(vocabulary, "cls_token"), parts.id(vocabulary, "sep_token"));
  return {{ByteLevelSplitter{parts.flag("add_prefix_space", false)}, std::move(model)},
          std::move(options)};
}

}  // namespace detail

/// Reads a folder as the class BertTokenizer. Throws `InputError` if a file is damaged.
[[nodiscard]] inline BertTokenizer read_bert_class(const TokenizerFolder& folder) {
  detail::ClassParts parts{folder};
  parts.fall_back_to_bert();
  return detail::read_wordpiece_class(
      parts, [&](const Vocabulary& vocabulary) { return parts.bert(vocabulary); });
}

/// Reads a folder as the class MPNetTokenizer. Throws `InputError` if a file is damaged.
[[nodiscard]] inline BertTokenizer read_mpnet_class(const TokenizerFolder& folder) {
  detail::ClassParts parts{folder};
  parts.fall_back({{"unk_token", "[UNK]"}});
  parts.fall_back_to_roberta();
  parts.special().let_mask_take_spaces();
  parts.special().make_objects_of_strings();
  return detail::read_wordpiece_class(parts, [&](const Vocabulary& vocabulary) {
    return roberta_templates(parts.id(vocabulary, "cls_token"), parts.id(vocabulary, "sep_token"));
  });
}

namespace detail {

/// Reads the vocabulary of RoBERTa's form, from tokenizer.json or from vocab.json and merges.txt.
[[nodiscard]] inline RobertaTokenizer read_roberta_files(const ClassParts& parts) {
  const TokenizerFolder& folder = parts.folder();
  if (const auto tokenizer = folder.tokenizer()) {
    const auto model = model_of(*tokenizer, "BPE");
    Vocabulary vocabulary = read_vocabulary(model.at("vocab"));
    return make_roberta(parts, vocabulary, read_merges(model.at("merges")));
  }
  const auto document = json::Document::load(folder.at("vocab.json"));
  Vocabulary vocabulary = read_vocabulary(document.root());
  const auto path = folder.at("merges.txt");
  const MappedFile file{path};
  return make_roberta(parts, vocabulary, read_merge_lines(file, path));
}

}  // namespace detail

/// Reads a folder as the class RobertaTokenizer. Throws `InputError` if a file is damaged.
[[nodiscard]] inline RobertaTokenizer read_roberta_class(const TokenizerFolder& folder) {
  detail::ClassParts parts{folder};
  parts.fall_back_to_roberta();
  return detail::read_roberta_files(parts);
}

/// Reads a folder as the class DebertaTokenizer: RoBERTa's form with BERT's special tokens. Throws
/// `InputError` if a file is damaged.
[[nodiscard]] inline RobertaTokenizer read_deberta_class(const TokenizerFolder& folder) {
  detail::ClassParts parts{folder};
  parts.fall_back({{"bos_token", "[CLS]"}, {"eos_token", "[SEP]"}});
  parts.fall_back_to_bert();
  parts.special().let_mask_take_spaces();
  return detail::read_roberta_files(parts);
}

}  // namespace seqtrain::text
