#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/text/loading/special_tokens.hpp>
#include <seqtrain/text/loading/vocabulary.hpp>
#include <seqtrain/text/tokenizer.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {
namespace detail {

/// Calls `fn(line, number)` for each line of a file. Numbers count from 1. Throws `InputError` if a
/// line is not UTF-8.
template <class Fn>
void for_each_line(const MappedFile& file, const std::filesystem::path& path, Fn&& fn) {
  std::string_view text = file.text();
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!is_valid_utf8(line)) {
      throw InputError{"not UTF-8", {.object = path.string(), .line = number}};
    }
    fn(line, number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// The special tokens of a family by their roles, and all others of the configuration.
class SpecialTokens {
 public:
  explicit SpecialTokens(const TokenizerConfig& config)
      : config_{config}, all_{config.added_tokens()} {}

  /// Adds the token with a role and returns its content. The configuration's token takes precedence
  /// over `otherwise`.
  const std::string& add(const char* role, AddedToken otherwise) {
    AddedToken token = config_.token(role, std::move(otherwise));
    const auto known = std::ranges::find(all_, token.content, &AddedToken::content);
    return known != all_.end() ? known->content : all_.emplace_back(std::move(token)).content;
  }

  /// Gives each token an id and adds it to the vocabulary.
  [[nodiscard]] std::vector<AddedToken> give_ids(Vocabulary& vocabulary) && {
    vocabulary.give_ids(all_);
    return std::move(all_);
  }

 private:
  const TokenizerConfig& config_;
  std::vector<AddedToken> all_;
};

}  // namespace detail

/// Reads BERT's tokenizer from vocab.txt (one token per line) and the folder's configuration.
/// Throws `InputError` if a file is damaged.
[[nodiscard]] inline BertTokenizer read_bert_files(const std::filesystem::path& folder,
                                                   const TokenizerConfig& config) {
  const MappedFile file{folder / "vocab.txt"};
  Vocabulary vocabulary;
  detail::for_each_line(file, folder / "vocab.txt", [&](std::string_view token, std::int64_t line) {
    vocabulary.add(token, line - 1);
  });
  const BertNormalizer normalizer{
      .handle_chinese_chars = config.flag("tokenize_chinese_chars").value_or(true),
      .lowercase = config.flag("do_lower_case").value_or(true),
      .strip_accents = config.flag("strip_accents")};
  detail::SpecialTokens special{config};
  const std::string unk = special.add("unk_token", {.content = "[UNK]"});
  const std::string sep = special.add("sep_token", {.content = "[SEP]"});
  const std::string pad = special.add("pad_token", {.content = "[PAD]"});
  const std::string cls = special.add("cls_token", {.content = "[CLS]"});
  special.add("mask_token", {.content = "[MASK]"});
  WordPiece model{vocabulary.entries(), {.unknown_token = unk}};
  auto tokens = std::move(special).give_ids(vocabulary);
  return {{normalizer, BertSplitter{}, std::move(model)},
          {.added_tokens = std::move(tokens),
           .templates = bert_templates(vocabulary.at(cls, "cls token"),
                                       vocabulary.at(sep, "separator token")),
           .pad_id = vocabulary.at(pad, "padding token"),
           .vocab_size = vocabulary.size(),
           .names = vocabulary.names()}};
}

/// Reads RoBERTa's tokenizer from vocab.json, merges.txt and the folder's configuration. Throws
/// `InputError` if a file is damaged.
[[nodiscard]] inline RobertaTokenizer read_roberta_files(const std::filesystem::path& folder,
                                                         const TokenizerConfig& config) {
  const auto document = json::Document::load(folder / "vocab.json");
  Vocabulary vocabulary = read_vocabulary(document.root());
  const std::filesystem::path merges_path = folder / "merges.txt";
  const MappedFile merges_file{merges_path};
  std::vector<Bpe::Pair> merges;
  detail::for_each_line(merges_file, merges_path, [&](std::string_view line, std::int64_t number) {
    if (line.starts_with("#version")) return;
    const auto merge = split_merge(line);
    if (!merge)
      throw InputError{"expected two tokens with a space between them",
                       {.object = merges_path.string(), .line = number}};
    merges.push_back(*merge);
  });
  detail::SpecialTokens special{config};
  special.add("bos_token", {.content = "<s>"});
  special.add("eos_token", {.content = "</s>"});
  special.add("unk_token", {.content = "<unk>"});
  const std::string sep = special.add("sep_token", {.content = "</s>"});
  const std::string pad = special.add("pad_token", {.content = "<pad>"});
  const std::string cls = special.add("cls_token", {.content = "<s>"});
  special.add("mask_token", {.content = "<mask>", .lstrip = true});
  Bpe model{vocabulary.entries(), merges};
  auto tokens = std::move(special).give_ids(vocabulary);
  return {{ByteLevelSplitter{config.flag("add_prefix_space").value_or(false)}, std::move(model)},
          {.added_tokens = std::move(tokens),
           .templates = roberta_templates(vocabulary.at(cls, "cls token"),
                                          vocabulary.at(sep, "separator token")),
           .pad_id = vocabulary.at(pad, "padding token"),
           .vocab_size = vocabulary.size(),
           .names = vocabulary.names()}};
}

}  // namespace seqtrain::text
