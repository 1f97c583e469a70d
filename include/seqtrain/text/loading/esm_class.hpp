#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/text/added_tokens.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/esm_tokenizer.hpp>
#include <seqtrain/text/loading/class_parts.hpp>
#include <seqtrain/text/loading/tokenizer_folder.hpp>
#include <seqtrain/text/loading/vocabulary.hpp>
#include <seqtrain/text/models/token_trie.hpp>
#include <seqtrain/text/pipeline.hpp>
#include <seqtrain/text/post_processing.hpp>
#include <seqtrain/text/tokenizer.hpp>
#include <seqtrain/text/unicode/utf8.hpp>
#include <seqtrain/text/word_tokenizer.hpp>

namespace seqtrain::text {
namespace detail {

/// Tells whether Python's `str.splitlines` ends a line at a character.
[[nodiscard]] constexpr bool ends_line_in_python(char32_t code) noexcept {
  return (code >= 0x0A && code <= 0x0D) || (code >= 0x1C && code <= 0x1E) || code == 0x85 ||
         code == 0x2028 || code == 0x2029;
}

/// Returns a text without the spaces at its ends, as Python's `str.strip` does.
[[nodiscard]] inline std::string_view stripped_as_in_python(std::string_view text) {
  std::size_t begin = text.size(), end = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t at = i;
    if (is_space_in_python(decode(text, i))) continue;
    if (end == 0) begin = at;
    end = i;
  }
  return end == 0 ? std::string_view{} : text.substr(begin, end - begin);
}

/// Reads ESM's vocab.txt, whose lines are those of Python.
[[nodiscard]] inline Vocabulary read_esm_vocabulary(const MappedFile& file,
                                                    const std::filesystem::path& path) {
  const std::string_view text = file.text();
  if (!is_valid_utf8(text)) throw InputError{"not UTF-8", {.object = path.string()}};
  Vocabulary vocabulary{NewIds::by_count};
  std::int64_t id = 0;
  std::size_t begin = 0;
  const auto add = [&](std::size_t end) {
    vocabulary.add(stripped_as_in_python(text.substr(begin, end - begin)), id++);
  };
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t at = i;
    if (!ends_line_in_python(decode(text, i))) continue;
    add(at);
    if (text[at] == '\r' && i < text.size() && text[i] == '\n') ++i;
    begin = i;
  }
  if (begin < text.size()) add(text.size());
  return vocabulary;
}

/// Throws `InputError` at what transformers' Python code does with added tokens and nothing else
/// here does.
inline void check_esm_tokens(const ClassParts& parts, const Vocabulary& vocabulary,
                             const std::vector<AddedToken>& added) {
  const auto decoder = parts.folder().setting("added_tokens_decoder");
  if (decoder) {
    for (const auto& [id, token] : decoder->members()) {
      const std::string content{token.at("content").string()};
      if (parse_number<Id>(id) == vocabulary.at(content, "added token")) continue;
      throw token.error("has the id " + std::string{id} + ", but the vocabulary gives it another",
                        "write the vocabulary's id");
    }
  }
  for (const AddedToken& token : added) {
    if (!token.single_word) continue;
    throw InputError{"the added token '" + token.content +
                         "' has single_word, which is not supported for EsmTokenizer",
                     {.object = (parts.folder().path() / "tokenizer_config.json").string()},
                     "write \"single_word\": false"};
  }
}

}  // namespace detail

/// Reads a folder as the class EsmTokenizer. Throws `InputError` if a file is damaged.
[[nodiscard]] inline EsmTokenizer read_esm_class(const TokenizerFolder& folder) {
  detail::ClassParts parts{folder};
  parts.fall_back({{"unk_token", "<unk>"},
                   {"cls_token", "<cls>"},
                   {"pad_token", "<pad>"},
                   {"mask_token", "<mask>"},
                   {"eos_token", "<eos>"}});
  const auto path = folder.path() / "vocab.txt";
  if (!folder.has("vocab.txt")) {
    throw InputError{
        "has no vocab.txt", {.object = folder.path().string()}, "EsmTokenizer needs it"};
  }
  const MappedFile file{path};
  Vocabulary vocabulary = detail::read_esm_vocabulary(file, path);
  const Id unknown = parts.id(vocabulary, "unk_token");  // one of the file, not an added one
  TokenizerOptions options = parts.surround(vocabulary);
  detail::check_esm_tokens(parts, vocabulary, options.added_tokens);
  TokenTrie trie;
  VocabularySplitter::Tokens whole;
  WholeWords::Ids ids;
  const bool cuts = !parts.flag("split_special_tokens", false);
  const auto add = [&](std::string_view token, Id id) {
    ids.insert_or_assign(std::string{token}, id);
    if (cuts) trie.add(token);
  };
  for (const auto& [token, id] : vocabulary.entries()) add(token, id);
  for (const AddedToken& token : std::exchange(options.added_tokens, {})) {
    add(token.content, token.id);
    if (cuts) whole.insert(token.content);
  }
  const Id begin = parts.id(vocabulary, "cls_token"), end = parts.id(vocabulary, "eos_token");
  options.templates = {.single = {.before = {begin}, .after = {end}},
                       .pair = {.before = {begin}, .between = {end}, .after = {end}},
                       .odd_id_to_first = true};
  return {{{}, {std::move(trie), std::move(whole)}, {std::move(ids), unknown}}, std::move(options)};
}

}  // namespace seqtrain::text
