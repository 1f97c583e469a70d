#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/text/loading/class_parts.hpp>
#include <seqtrain/text/loading/models_json.hpp>
#include <seqtrain/text/loading/parts_json.hpp>
#include <seqtrain/text/loading/template_json.hpp>
#include <seqtrain/text/loading/tokenizer_folder.hpp>
#include <seqtrain/text/loading/vocabulary.hpp>
#include <seqtrain/text/tokenizer.hpp>

namespace seqtrain::text {
namespace detail {

/// Reads the parts of tokenizer.json that the classes of decoders take: the BPE's vocabulary and
/// merges, and the template.
class DecoderFile {
 public:
  explicit DecoderFile(const TokenizerFolder& folder)
      : root_{root_of(folder)}, model_{model_of(root_, "BPE")} {}

  [[nodiscard]] Vocabulary vocabulary() const { return read_vocabulary(model_.at("vocab")); }
  [[nodiscard]] std::vector<Bpe::Pair> merges() const { return read_merges(model_.at("merges")); }

  /// Returns a tokenizer's options with the template of the file.
  [[nodiscard]] TokenizerOptions options(const ClassParts& parts, Vocabulary& vocabulary) const {
    TokenizerOptions options = parts.surround(vocabulary);
    if (const auto processor = root_.find("post_processor")) {
      options.templates = read_templates(*processor);
    }
    if (!parts.special().find("pad_token")) {
      options.pad_id = usual_pad_id(vocabulary, parts.special());
    }
    return options;
  }

 private:
  static json::Value root_of(const TokenizerFolder& folder) {
    if (const auto root = folder.tokenizer()) return *root;
    throw InputError{
        "has no tokenizer.json",
        {.object = folder.path().string()},
        "the class of its tokenizer needs it; transformers' save_pretrained writes it"};
  }

  json::Value root_;
  json::Value model_;
};

[[nodiscard]] inline AssembledTokenizer read_piece_class(const ClassParts& parts,
                                                         const CharacterBpeOptions& options,
                                                         NormalizerSequence normalizers,
                                                         PreTokenizer splitter) {
  const DecoderFile file{parts.folder()};
  Vocabulary vocabulary = file.vocabulary();
  CharacterBpe model{vocabulary.entries(), file.merges(), options};
  return {{std::move(normalizers), PreTokenizerSequence{{std::move(splitter)}}, std::move(model)},
          file.options(parts, vocabulary)};
}

}  // namespace detail

/// Reads a folder as the class LlamaTokenizer. Throws `InputError` if a file is damaged.
[[nodiscard]] inline AssembledTokenizer read_llama_class(const TokenizerFolder& folder) {
  detail::ClassParts parts{folder};
  parts.fall_back({{"unk_token", "<unk>"}, {"bos_token", "<s>"}, {"eos_token", "</s>"}});
  using Scheme = Metaspace::Scheme;
  const Scheme prefixed = parts.flag("legacy", false) ? Scheme::always : Scheme::first;
  const Scheme scheme = parts.flag("add_prefix_space", true) ? prefixed : Scheme::never;
  return detail::read_piece_class(parts, {.fuse_unknown = true, .byte_fallback = true}, {},
                                  Metaspace{.scheme = scheme, .split = false});
}

/// Reads a folder as the class GemmaTokenizer. Throws `InputError` if a file is damaged.
[[nodiscard]] inline AssembledTokenizer read_gemma_class(const TokenizerFolder& folder) {
  detail::ClassParts parts{folder};
  parts.fall_back({{"unk_token", "<unk>"},
                   {"bos_token", "<bos>"},
                   {"eos_token", "<eos>"},
                   {"pad_token", "<pad>"},
                   {"mask_token", "<mask>"}});
  return detail::read_piece_class(
      parts,
      {.unknown_token = parts.special().at("unk_token"),
       .fuse_unknown = true,
       .byte_fallback = true},
      NormalizerSequence{{Replace{.text_pattern = " ", .content = "\u2581"}}},
      PatternSplitter{PatternSplitter::Kind::pattern, Delimiter::merged_with_previous, false,
                      Replace{.text_pattern = " "}});
}

/// Reads a folder as the class GPT2Tokenizer. Throws `InputError` if a file is damaged.
[[nodiscard]] inline RobertaTokenizer read_gpt2_class(const TokenizerFolder& folder) {
  detail::ClassParts parts{folder};
  for (const char* role : {"unk_token", "bos_token", "eos_token"}) {
    parts.fall_back({{role, "<|endoftext|>"}});
  }
  const detail::DecoderFile file{folder};
  Vocabulary vocabulary = file.vocabulary();
  Bpe model{vocabulary.entries(), file.merges()};
  return {{ByteLevelSplitter{parts.flag("add_prefix_space", false)}, std::move(model)},
          file.options(parts, vocabulary)};
}

/// Reads a folder as the class Qwen2Tokenizer. Throws `InputError` if a file is damaged.
[[nodiscard]] inline std::variant<NormalizedByteLevelTokenizer, AssembledTokenizer>
read_qwen2_class(const TokenizerFolder& folder) {
  detail::ClassParts parts{folder};
  for (const char* role : {"unk_token", "eos_token", "pad_token"}) {
    parts.fall_back({{role, "<|endoftext|>"}});
  }
  const detail::DecoderFile file{folder};
  Vocabulary vocabulary = file.vocabulary();
  Bpe model{vocabulary.entries(), file.merges()};
  NormalizerSequence normalizers{{UnicodeNormalizer{NormalForm::nfc}}};
  if (parts.flag("add_prefix_space", false)) {  // each word gets a space
    PreTokenizerSequence splitters{{PatternWords{WordPattern::qwen2},
                                    ByteLevelPart{.add_prefix_space = true, .use_regex = false}}};
    return AssembledTokenizer{{std::move(normalizers), std::move(splitters), std::move(model)},
                              file.options(parts, vocabulary)};
  }
  ByteLevelPipeline words{ByteLevelSplitter{.pattern = WordPattern::qwen2}, std::move(model)};
  return NormalizedByteLevelTokenizer{{std::move(normalizers), std::move(words)},
                                      file.options(parts, vocabulary)};
}

}  // namespace seqtrain::text
