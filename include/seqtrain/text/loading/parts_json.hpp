#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/text/normalizers/normalizers.hpp>
#include <seqtrain/text/pre_tokenizers/pre_tokenizers.hpp>
#include <seqtrain/text/pre_tokenizers/word_pattern.hpp>

namespace seqtrain::text {
namespace detail {

/// Throws `InputError` that names a value and the supported alternatives.
[[noreturn]] inline void refuse(const json::Value& value, const std::string& supported) {
  const std::string what = value.is_string() ? "\"" + std::string{value.string()} + "\"" : "this";
  throw value.error(what + " is not supported", "supported: " + supported);
}

[[nodiscard]] inline bool flag_of(const json::Value& object, std::string_view key, bool otherwise) {
  const auto value = object.find(key);
  return value ? value->boolean() : otherwise;
}

/// Reads the pattern of Replace or Split: `{"String": …}` or `{"Regex": …}`.
[[nodiscard]] inline Replace read_pattern(const json::Value& pattern) {
  if (const auto text = pattern.find("String")) {
    if (text->string().empty()) refuse(*text, "a string that is not empty");
    return {.text_pattern = std::string{text->string()}};
  }
  const auto regex = pattern.at("Regex");
  if (regex.string() == Replace::spaces_regex) return {.pattern = Replace::Pattern::spaces};
  if (regex.string() == Replace::blanks_regex) return {.pattern = Replace::Pattern::blanks};
  refuse(regex, std::string{Replace::spaces_regex} + " and " + std::string{Replace::blanks_regex});
}

/// Reads the pattern of a Split that `read_pattern_words` does not read.
[[nodiscard]] inline Replace read_split_pattern(const json::Value& pattern) {
  const auto regex = pattern.find("Regex");
  if (regex && regex->string() != Replace::spaces_regex &&
      regex->string() != Replace::blanks_regex) {
    refuse(*regex, "the patterns of GPT-2, GPT-4 (Llama 3, OLMo 2) and Qwen2, " +
                       std::string{Replace::spaces_regex} + " and " +
                       std::string{Replace::blanks_regex});
  }
  return read_pattern(pattern);
}

[[nodiscard]] inline BertNormalizer read_bert_normalizer(const json::Value& part) {
  BertNormalizer normalizer{.clean_text = flag_of(part, "clean_text", true),
                            .handle_chinese_chars = flag_of(part, "handle_chinese_chars", true),
                            .lowercase = flag_of(part, "lowercase", true)};
  if (const auto strip = part.find("strip_accents")) normalizer.strip_accents = strip->boolean();
  return normalizer;
}

inline void read_normalizer(const json::Value& part, std::vector<Normalizer>& out) {
  const auto type = part.at("type");
  const std::string_view name = type.string();
  if (name == "Sequence") {
    for (const auto& one : part.at("normalizers").items()) read_normalizer(one, out);
    return;
  }
  constexpr std::array<std::pair<std::string_view, NormalForm>, 4> forms{
      {{"NFC", NormalForm::nfc},
       {"NFD", NormalForm::nfd},
       {"NFKC", NormalForm::nfkc},
       {"NFKD", NormalForm::nfkd}}};
  for (const auto& [form_name, form] : forms) {
    if (name == form_name) return void(out.emplace_back(UnicodeNormalizer{form}));
  }
  if (name == "Lowercase") return void(out.emplace_back(Lowercase{}));
  if (name == "StripAccents") return void(out.emplace_back(StripAccents{}));
  if (name == "BertNormalizer") return void(out.emplace_back(read_bert_normalizer(part)));
  if (name == "Strip") {
    return void(out.emplace_back(StripWhitespace{.left = part.at("strip_left").boolean(),
                                                 .right = part.at("strip_right").boolean()}));
  }
  if (name == "Prepend") {
    return void(out.emplace_back(Prepend{std::string{part.at("prepend").string()}}));
  }
  if (name == "Replace") {
    Replace replace = read_pattern(part.at("pattern"));
    replace.content = part.at("content").string();
    return void(out.emplace_back(std::move(replace)));
  }
  if (name != "Precompiled") {
    refuse(type,
           "BertNormalizer, Lowercase, NFC, NFD, NFKC, NFKD, Precompiled, Prepend, Replace, "
           "Sequence, Strip and StripAccents");
  }
  const auto map = part.at("precompiled_charsmap");
  const auto bytes = decode_base64(map.string(), Base64::standard);
  if (!bytes) throw map.error("is not base64");
  try {
    out.emplace_back(CharacterMap{*bytes});
  } catch (const InputError& error) {
    throw map.error(error.what());
  }
}

[[nodiscard]] inline Delimiter read_behavior(const json::Value& part, bool required) {
  const auto value = required ? std::optional{part.at("behavior")} : part.find("behavior");
  if (!value) return Delimiter::isolated;
  constexpr std::array<std::pair<std::string_view, Delimiter>, 5> names{
      {{"Removed", Delimiter::removed},
       {"Isolated", Delimiter::isolated},
       {"MergedWithPrevious", Delimiter::merged_with_previous},
       {"MergedWithNext", Delimiter::merged_with_next},
       {"Contiguous", Delimiter::contiguous}}};
  for (const auto& [name, delimiter] : names) {
    if (value->string() == name) return delimiter;
  }
  refuse(*value, "Contiguous, Isolated, MergedWithNext, MergedWithPrevious and Removed");
}

/// Reads a Metaspace. Older files have `add_prefix_space`, newer ones `prepend_scheme`.
[[nodiscard]] inline Metaspace read_metaspace(const json::Value& part) {
  Metaspace metaspace;
  const auto replacement = part.at("replacement");
  metaspace.replacement = replacement.string();
  if (metaspace.replacement.empty() || count_characters(metaspace.replacement) != 1) {
    refuse(replacement, "one character");
  }
  const auto prefix = part.find("add_prefix_space");
  const auto scheme = part.find("prepend_scheme");
  if (scheme && scheme->string() == "first") {
    metaspace.scheme = Metaspace::Scheme::first;
  } else if (scheme && scheme->string() == "never") {
    metaspace.scheme = Metaspace::Scheme::never;
  } else if (scheme && scheme->string() != "always") {
    refuse(*scheme, "always, first and never");
  }
  if (prefix && !prefix->boolean()) {
    if (scheme && metaspace.scheme != Metaspace::Scheme::never) {
      throw prefix->error("does not agree with prepend_scheme");
    }
    metaspace.scheme = Metaspace::Scheme::never;
  }
  metaspace.split = flag_of(part, "split", true);
  return metaspace;
}

/// Reads a Split at the matches of a regular expression that cover the whole text, or returns
/// nothing if its pattern is another one.
[[nodiscard]] inline std::optional<PatternWords> read_pattern_words(const json::Value& part) {
  const auto regex = part.at("pattern").find("Regex");
  const auto pattern = regex ? find_word_pattern(regex->string()) : std::nullopt;
  if (!pattern) return {};
  const Delimiter delimiter = read_behavior(part, true);
  const bool keeps_matches = delimiter == Delimiter::removed && flag_of(part, "invert", false);
  if (delimiter != Delimiter::isolated && !keeps_matches) {
    refuse(part.at("behavior"), "Isolated, and Removed with invert, for a pattern of words");
  }
  return PatternWords{*pattern};
}

inline void read_pre_tokenizer(const json::Value& part, bool to_symbols,
                               std::vector<PreTokenizer>& out) {
  using Kind = PatternSplitter::Kind;
  const auto type = part.at("type");
  const std::string_view name = type.string();
  const auto add = [&](Kind kind, Delimiter delimiter, bool invert = false) {
    out.emplace_back(PatternSplitter{kind, delimiter, invert});
  };
  if (name == "Sequence") {
    for (const auto& one : part.at("pretokenizers").items()) {
      read_pre_tokenizer(one, to_symbols, out);
    }
    return;
  }
  if (name == "Metaspace") return void(out.emplace_back(read_metaspace(part)));
  if (name == "WhitespaceSplit") return add(Kind::whitespace, Delimiter::removed);
  if (name == "Whitespace") return add(Kind::words, Delimiter::removed, true);
  if (name == "Punctuation") return add(Kind::punctuation, read_behavior(part, false));
  if (name == "BertPreTokenizer") return void(out.emplace_back(BertWords{}));
  if (name == "Digits") {
    const bool each = part.at("individual_digits").boolean();
    return add(Kind::numeric, each ? Delimiter::isolated : Delimiter::contiguous);
  }
  if (name == "ByteLevel") {
    return void(
        out.emplace_back(ByteLevelPart{.add_prefix_space = flag_of(part, "add_prefix_space", true),
                                       .use_regex = flag_of(part, "use_regex", true),
                                       .to_symbols = to_symbols}));
  }
  if (name != "Split") {
    refuse(type,
           "BertPreTokenizer, ByteLevel, Digits, Metaspace, Punctuation, Sequence, Split, "
           "Whitespace and WhitespaceSplit");
  }
  if (const auto words = read_pattern_words(part)) return void(out.emplace_back(*words));
  out.emplace_back(PatternSplitter{Kind::pattern, read_behavior(part, true),
                                   flag_of(part, "invert", false),
                                   read_split_pattern(part.at("pattern"))});
}

}  // namespace detail

/// Reads the normalizers of a tokenizer.json. The sequence is empty if the file says null. Throws
/// `InputError` if one is not supported.
[[nodiscard]] inline NormalizerSequence read_normalizers(const json::Value& root) {
  std::vector<Normalizer> parts;
  if (const auto part = root.find("normalizer")) detail::read_normalizer(*part, parts);
  return NormalizerSequence{std::move(parts)};
}

/// Reads the pre-tokenizers of a tokenizer.json. Pass `to_symbols` if the model's vocabulary spells
/// bytes as `byte_symbols`. Throws `InputError` if one is not supported.
[[nodiscard]] inline PreTokenizerSequence read_pre_tokenizers(const json::Value& root,
                                                              bool to_symbols) {
  std::vector<PreTokenizer> parts;
  if (const auto part = root.find("pre_tokenizer")) {
    detail::read_pre_tokenizer(*part, to_symbols, parts);
  }
  return PreTokenizerSequence{std::move(parts)};
}

namespace detail {

/// Returns the splitter that cuts texts as these pre-tokenizers do, or nothing if there is none.
[[nodiscard]] inline std::optional<ByteLevelSplitter> byte_level_splitter(
    const PreTokenizerSequence& sequence) {
  const auto& parts = sequence.parts();
  const auto* bytes = parts.empty() ? nullptr : std::get_if<ByteLevelPart>(&parts.back());
  if (!bytes || parts.size() > 2) return {};
  if (parts.size() == 1) {
    if (!bytes->use_regex) return {};
    return ByteLevelSplitter{.add_prefix_space = bytes->add_prefix_space};
  }
  if (bytes->add_prefix_space) return {};  // each piece would get a space
  if (const auto* words = std::get_if<PatternWords>(&parts.front()); words && !bytes->use_regex) {
    return ByteLevelSplitter{.pattern = words->pattern};
  }
  const auto* digits = std::get_if<PatternSplitter>(&parts.front());
  if (!digits || !digits->isolates_digits() || !bytes->use_regex) return {};
  return ByteLevelSplitter{.pattern = WordPattern::gpt2_digits};
}

}  // namespace detail
}  // namespace seqtrain::text
