#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/text/any_tokenizer.hpp>
#include <seqtrain/text/special_tokens.hpp>
#include <seqtrain/text/template_json.hpp>
#include <seqtrain/text/tokenizer.hpp>
#include <seqtrain/text/vocabulary.hpp>

namespace seqtrain::text {

/// Reads tokenizer.json of Hugging Face's `tokenizers`. Truncation, padding and decoder are left
/// out of account; a part that is not supported throws `InputError` that names it.
class TokenizerJson {
 public:
  TokenizerJson(const json::Document& document, const TokenizerConfig& config)
      : root_{document.root()}, config_{config} {
    const auto version = root_.find("version");
    if (version && version->string() != "1.0") refuse(*version, "1.0");
  }

  [[nodiscard]] AnyTokenizer::Family read() const {
    const auto model = root_.at("model");
    const auto type = model.find("type");
    const std::string_view name = type                   ? type->string()
                                  : model.find("merges") ? "BPE"
                                                         : "WordPiece";
    if (name == "WordPiece") return read_bert(model);
    if (name == "BPE") return read_byte_level(model);
    refuse(*type, "WordPiece and BPE");
  }

 private:
  [[noreturn]] static void refuse(const json::Value& value, const std::string& supported) {
    const std::string what = value.is_string() ? "\"" + std::string{value.string()} + "\"" : "this";
    throw value.error(what + " is not supported", "supported: " + supported);
  }

  static void require_type(const json::Value& part, std::string_view type) {
    const auto found = part.at("type");
    if (found.string() != type) refuse(found, std::string{type});
  }

  static std::optional<std::string> find_string(const json::Value& object, std::string_view key) {
    const auto value = object.find(key);
    return value ? std::optional{std::string{value->string()}} : std::nullopt;
  }

  static std::optional<bool> flag(const json::Value& object, std::string_view key) {
    const auto value = object.find(key);
    return value ? std::optional{value->boolean()} : std::nullopt;
  }

  [[nodiscard]] BertTokenizer read_bert(const json::Value& model) const {
    require_type(root_.at("pre_tokenizer"), "BertPreTokenizer");
    WordPieceOptions options;
    if (auto token = find_string(model, "unk_token")) options.unknown_token = *std::move(token);
    if (auto prefix = find_string(model, "continuing_subword_prefix")) {
      options.continuing_prefix = *std::move(prefix);
    }
    if (const auto longest = model.find("max_input_chars_per_word")) {
      if (longest->integer() < 0) refuse(*longest, "numbers from 0");
      options.max_characters = static_cast<std::size_t>(longest->integer());
    }
    Vocabulary vocabulary = read_vocabulary(model.at("vocab"));
    return {{read_normalizer(), BertSplitter{}, WordPiece{vocabulary.entries(), options}},
            read_surroundings(vocabulary, "[PAD]")};
  }

  [[nodiscard]] BertNormalizer read_normalizer() const {
    const auto normalizer = root_.find("normalizer");
    if (!normalizer) return {false, false, false, false};
    require_type(*normalizer, "BertNormalizer");
    return {.clean_text = flag(*normalizer, "clean_text").value_or(true),
            .handle_chinese_chars = flag(*normalizer, "handle_chinese_chars").value_or(true),
            .lowercase = flag(*normalizer, "lowercase").value_or(true),
            .strip_accents = flag(*normalizer, "strip_accents")};
  }

  [[nodiscard]] RobertaTokenizer read_byte_level(const json::Value& model) const {
    if (const auto normalizer = root_.find("normalizer")) {
      refuse(normalizer->at("type"), "none with BPE");
    }
    const auto splitter = root_.at("pre_tokenizer");
    require_type(splitter, "ByteLevel");
    if (!flag(splitter, "use_regex").value_or(true)) refuse(splitter.at("use_regex"), "true");
    Vocabulary vocabulary = read_vocabulary(model.at("vocab"));
    return {{ByteLevelSplitter{flag(splitter, "add_prefix_space").value_or(true)},
             read_bpe(model, vocabulary)},
            read_surroundings(vocabulary, "<pad>")};
  }

  static Bpe read_bpe(const json::Value& model, const Vocabulary& vocabulary) {
    if (const auto dropout = model.find("dropout"); dropout && dropout->number() != 0) {
      refuse(*dropout, "null");
    }
    for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      const auto value = model.find(affix);
      if (value && !value->string().empty()) refuse(*value, "none");
    }
    if (flag(model, "byte_fallback").value_or(false)) refuse(model.at("byte_fallback"), "false");
    return Bpe{vocabulary.entries(),
               read_merges(model.at("merges")),
               {.unknown_token = find_string(model, "unk_token"),
                .fuse_unknown = flag(model, "fuse_unk").value_or(false),
                .ignore_merges = flag(model, "ignore_merges").value_or(false)}};
  }

  /// Merges are strings "left right" in older files, pairs in newer ones.
  static std::vector<Bpe::Pair> read_merges(const json::Value& value) {
    simdjson::dom::array array;
    if (value.element().get(array) != simdjson::SUCCESS) throw value.error("expected an array");
    std::vector<Bpe::Pair> merges;
    for (const simdjson::dom::element element : array) {
      const auto merge = read_merge(element);
      if (!merge) throw value.error("merge " + std::to_string(merges.size()) + " is no pair");
      merges.push_back(*merge);
    }
    return merges;
  }

  static std::optional<Bpe::Pair> read_merge(simdjson::dom::element element) {
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

  [[nodiscard]] TokenizerOptions read_surroundings(Vocabulary& vocabulary,
                                                   const char* pad_token) const {
    TokenizerOptions options;
    if (const auto tokens = root_.find("added_tokens")) {
      for (const auto& token : tokens->items()) {
        options.added_tokens.push_back(read_added_token(token));
      }
    }
    vocabulary.give_ids(options.added_tokens);
    if (const auto processor = root_.find("post_processor")) {
      options.templates = read_templates(*processor);
    }
    const auto pad = config_.token("pad_token", {.content = pad_token});
    options.pad_id = vocabulary.at(pad.content, "padding token");
    options.vocab_size = vocabulary.size();
    options.names = vocabulary.names();
    return options;
  }

  json::Value root_;
  const TokenizerConfig& config_;
};

}  // namespace seqtrain::text
