#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/text/any_tokenizer.hpp>
#include <seqtrain/text/loading/added_vocabulary.hpp>
#include <seqtrain/text/loading/class_parts.hpp>
#include <seqtrain/text/loading/models_json.hpp>
#include <seqtrain/text/loading/parts_json.hpp>
#include <seqtrain/text/loading/special_tokens.hpp>
#include <seqtrain/text/loading/template_json.hpp>
#include <seqtrain/text/loading/tokenizer_folder.hpp>
#include <seqtrain/text/loading/vocabulary.hpp>
#include <seqtrain/text/tokenizer.hpp>
#include <seqtrain/text/tokenizer_family.hpp>

namespace seqtrain::text {

/// Reads a tokenizer.json of Hugging Face's `tokenizers`. It ignores truncation and padding with a
/// warning, and the decoder without one. Throws `InputError` that names the part if a part is not
/// supported.
class TokenizerJson {
 public:
  /// `folder` must outlive this object.
  TokenizerJson(const json::Value& root, const TokenizerFolder& folder)
      : root_{root}, folder_{folder} {
    const auto version = root_.find("version");
    if (version && version->string() != "1.0") detail::refuse(*version, "1.0");
  }

  [[nodiscard]] AnyTokenizer::Family read() const {
    const auto model = root_.at("model");
    const std::string_view name = detail::model_name(model);
    if (name == "WordPiece" && has_bert_parts()) return read_bert(model);
    if (name == "BPE") return read_any_bpe(model);
    if (name == "WordPiece") return assemble_wordpiece(model);
    if (name == "Unigram") return assemble_unigram(model);
    detail::refuse(model.at("type"), "BPE, Unigram and WordPiece");
  }

 private:
  static bool is_of(const std::optional<json::Value>& part, std::string_view type) {
    return part && part->at("type").string() == type;
  }

  [[nodiscard]] bool has_bert_parts() const {
    const auto normalizer = root_.find("normalizer");
    return is_of(root_.find("pre_tokenizer"), "BertPreTokenizer") &&
           (!normalizer || is_of(normalizer, "BertNormalizer"));
  }

  [[nodiscard]] AnyTokenizer::Family read_any_bpe(const json::Value& model) const {
    const auto splitter = detail::byte_level_splitter(read_pre_tokenizers(root_, false));
    if (!splitter) return assemble_bpe(model);
    if (!root_.find("normalizer")) return read_byte_level(*splitter, model);
    return read_normalized_byte_level(*splitter, model);
  }

  [[nodiscard]] BertTokenizer read_bert(const json::Value& model) const {
    Vocabulary vocabulary = read_vocabulary(model.at("vocab"));
    WordPiece wordpiece = detail::read_wordpiece(model, vocabulary);
    return {{read_normalizer(), BertSplitter{}, std::move(wordpiece)},
            read_surroundings(vocabulary)};
  }

  [[nodiscard]] BertNormalizer read_normalizer() const {
    const auto normalizer = root_.find("normalizer");
    if (!normalizer) return {false, false, false, false};
    return detail::read_bert_normalizer(*normalizer);
  }

  [[nodiscard]] NormalizedByteLevelTokenizer read_normalized_byte_level(
      const ByteLevelSplitter& splitter, const json::Value& model) const {
    Vocabulary vocabulary = read_vocabulary(model.at("vocab"));
    ByteLevelPipeline words{splitter, detail::read_bpe(model, vocabulary)};
    return {{read_normalizers(root_), std::move(words)}, read_surroundings(vocabulary)};
  }

  [[nodiscard]] RobertaTokenizer read_byte_level(const ByteLevelSplitter& splitter,
                                                 const json::Value& model) const {
    Vocabulary vocabulary = read_vocabulary(model.at("vocab"));
    return {{splitter, detail::read_bpe(model, vocabulary)}, read_surroundings(vocabulary)};
  }

  [[nodiscard]] AssembledTokenizer assemble(Vocabulary& vocabulary, AssembledPipeline::Model model,
                                            bool to_symbols = true) const {
    return {{read_normalizers(root_), read_pre_tokenizers(root_, to_symbols), std::move(model)},
            read_surroundings(vocabulary)};
  }

  [[nodiscard]] AssembledTokenizer assemble_wordpiece(const json::Value& model) const {
    Vocabulary vocabulary = read_vocabulary(model.at("vocab"));
    WordPiece wordpiece = detail::read_wordpiece(model, vocabulary);
    return assemble(vocabulary, std::move(wordpiece));
  }

  [[nodiscard]] AssembledTokenizer assemble_bpe(const json::Value& model) const {
    Vocabulary vocabulary = read_vocabulary(model.at("vocab"));
    if (takes_bytes()) return assemble(vocabulary, detail::read_bpe(model, vocabulary), false);
    return assemble(vocabulary, detail::read_character_bpe(model, vocabulary));
  }

  /// Returns whether the last pre-tokenizer, and no other one, turns text into bytes.
  [[nodiscard]] bool takes_bytes() const {
    const auto parts = read_pre_tokenizers(root_, false).parts();
    return !parts.empty() && std::holds_alternative<ByteLevelPart>(parts.back()) &&
           std::ranges::count_if(parts, [](const PreTokenizer& part) {
             return std::holds_alternative<ByteLevelPart>(part);
           }) == 1;
  }

  [[nodiscard]] AssembledTokenizer assemble_unigram(const json::Value& model) const {
    if (const auto alpha = model.find("alpha")) detail::refuse(*alpha, "null");
    const auto vocab = model.at("vocab");
    std::vector<Unigram::Piece> pieces = detail::read_pieces(vocab);
    const auto unknown = model.find("unk_id");
    if (!unknown) throw model.error("has no unk_id", "an unknown piece is needed");
    if (unknown->integer() < 0 || unknown->integer() >= static_cast<std::int64_t>(pieces.size())) {
      throw unknown->error("is not an index of the vocabulary");
    }
    Vocabulary vocabulary{NewIds::after_all};
    for (const auto& piece : pieces) {
      vocabulary.add(piece.first, static_cast<std::int64_t>(vocabulary.entries().size()));
    }
    return assemble(vocabulary,
                    Unigram{pieces,
                            {.unknown = static_cast<Id>(unknown->integer()),
                             .byte_fallback = detail::flag_of(model, "byte_fallback", false)}});
  }

  [[nodiscard]] TokenizerOptions read_surroundings(Vocabulary& vocabulary) const {
    AddedVocabulary added{vocabulary};
    if (const auto tokens = root_.find("added_tokens")) {
      for (const auto& token : tokens->items()) added.add(read_declared_token(token));
    }
    SpecialTokens special{folder_};
    const auto padding = root_.find("padding");
    auto pad = padding ? detail::find_string(*padding, "pad_token") : std::nullopt;
    if (pad) special.fall_back("pad_token", *std::move(pad));
    TokenizerOptions options = detail::surroundings(folder_, special, vocabulary, added);
    if (const auto processor = root_.find("post_processor")) {
      options.templates = read_templates(*processor);
    }
    if (!special.find("pad_token")) options.pad_id = detail::usual_pad_id(vocabulary, special);
    return options;
  }

  json::Value root_;
  const TokenizerFolder& folder_;
};

/// Returns one sentence for each setting of tokenizer.json that encoding ignores.
[[nodiscard]] inline std::vector<std::string> tokenizer_warnings(const TokenizerFolder& folder) {
  std::vector<std::string> warnings;
  const auto file = folder.tokenizer();
  for (const std::string part : {"truncation", "padding"}) {
    if (!file || !file->find(part)) continue;
    warnings.push_back(part + " in tokenizer.json is ignored; the program sets " +
                       (part == "padding" ? "the padding of batches" : "the maximum length"));
  }
  return warnings;
}

}  // namespace seqtrain::text
