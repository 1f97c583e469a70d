#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/json.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/loading/added_vocabulary.hpp>
#include <seqtrain/text/loading/models_json.hpp>
#include <seqtrain/text/loading/special_tokens.hpp>
#include <seqtrain/text/loading/tokenizer_folder.hpp>
#include <seqtrain/text/loading/vocabulary.hpp>
#include <seqtrain/text/post_processing.hpp>
#include <seqtrain/text/tokenizer.hpp>

namespace seqtrain::text::detail {

/// Returns the ids that texts keep by a folder's files. `long_texts` is a key of seqtrain's, for
/// what transformers has no name for.
[[nodiscard]] inline LongTexts long_texts_of(const TokenizerFolder& folder) {
  if (const auto way = folder.setting("long_texts")) {
    const bool windows = way->string() == "windows";
    if (!windows && way->string() != "head-tail") refuse(*way, "head-tail and windows");
    return windows ? LongTexts::windows : LongTexts::head_tail;
  }
  const auto side_of = [](bool left) { return left ? LongTexts::tail : LongTexts::truncate; };
  if (const auto side = folder.setting("truncation_side")) {
    if (side->string() != "left" && side->string() != "right") refuse(*side, "left and right");
    return side_of(side->string() == "left");
  }
  const auto file = folder.tokenizer();
  const auto truncation = file ? file->find("truncation") : std::nullopt;
  const auto direction = truncation ? truncation->find("direction") : std::nullopt;
  return side_of(direction && direction->string() == "Left");
}

/// Returns tokenizer_config.json's `model_max_length`, or its older name `max_len`. transformers
/// writes 10^30 for no limit.
[[nodiscard]] inline std::size_t max_length_of(const TokenizerFolder& folder) {
  auto length = folder.setting("model_max_length");
  if (!length) length = folder.setting("max_len");
  constexpr double most = 1e9;
  if (!length || length->number() > most) return EncodeOptions{}.max_length;
  if (length->number() < 1) throw length->error("must be at least 1");
  return static_cast<std::size_t>(length->number());
}

/// Adds the tokens of a folder to `added` and returns what a tokenizer has besides its pipeline and
/// its templates. `pad_id` is 0 if no token has the role.
[[nodiscard]] inline TokenizerOptions surroundings(const TokenizerFolder& folder,
                                                   const SpecialTokens& special,
                                                   Vocabulary& vocabulary, AddedVocabulary& added) {
  special.add_to(added);
  const auto& pad = special.find("pad_token");
  return {.added_tokens = added.tokens(folder.flag("split_special_tokens").value_or(false)),
          .pad_id = pad ? vocabulary.at(pad->content, "padding token") : 0,
          .vocab_size = vocabulary.size(),
          .names = vocabulary.names(),
          .long_texts = long_texts_of(folder)};
}

/// Returns the id with which batches are padded if no file names one: that of a usual padding
/// token, else that of the token that ends a text, else 0.
[[nodiscard]] inline Id usual_pad_id(const Vocabulary& vocabulary, const SpecialTokens& special) {
  for (const char* usual : {"[PAD]", "<pad>"}) {
    if (vocabulary.contains(usual)) return vocabulary.at(usual, "padding token");
  }
  const auto& end = special.find("eos_token");
  return end ? vocabulary.at(end->content, "end token") : 0;
}

/// Returns the model of tokenizer.json. Throws `InputError` if it is not of the type that the
/// folder's class takes.
[[nodiscard]] inline json::Value model_of(const json::Value& tokenizer, std::string_view type) {
  const auto model = tokenizer.at("model");
  if (model_name(model) == type) return model;
  throw model.error("the class of the tokenizer takes a " + std::string{type} + " and not a " +
                        std::string{model_name(model)},
                    "if tokenizer.json is right as it is, write \"tokenizer_class\": "
                    "\"PreTrainedTokenizerFast\" into tokenizer_config.json");
}

/// Parts that several classes use to make a tokenizer from a vocabulary and tokenizer_config.json.
class ClassParts {
 public:
  /// The folder must outlive this object.
  explicit ClassParts(const TokenizerFolder& folder) : folder_{folder}, special_{folder} {}

  [[nodiscard]] const TokenizerFolder& folder() const noexcept { return folder_; }
  [[nodiscard]] SpecialTokens& special() noexcept { return special_; }
  [[nodiscard]] const SpecialTokens& special() const noexcept { return special_; }

  /// Returns a setting of tokenizer_config.json.
  [[nodiscard]] bool flag(std::string_view key, bool otherwise) const {
    return folder_.flag(key).value_or(otherwise);
  }

  /// Sets the tokens of the roles that no file names.
  void fall_back(std::initializer_list<std::pair<std::string_view, const char*>> tokens) {
    for (const auto& [role, content] : tokens) special_.fall_back(role, content);
  }

  void fall_back_to_bert() {
    fall_back({{"unk_token", "[UNK]"},
               {"sep_token", "[SEP]"},
               {"pad_token", "[PAD]"},
               {"cls_token", "[CLS]"},
               {"mask_token", "[MASK]"}});
  }

  void fall_back_to_roberta() {
    fall_back({{"bos_token", "<s>"},
               {"eos_token", "</s>"},
               {"unk_token", "<unk>"},
               {"sep_token", "</s>"},
               {"pad_token", "<pad>"},
               {"cls_token", "<s>"},
               {"mask_token", "<mask>"}});
  }

  /// Gives the added tokens their ids. Returns the options without templates.
  [[nodiscard]] TokenizerOptions surround(Vocabulary& vocabulary) const {
    AddedVocabulary added{vocabulary};
    return surroundings(folder_, special_, vocabulary, added);
  }

  [[nodiscard]] Id id(const Vocabulary& vocabulary, std::string_view role) const {
    return vocabulary.at(special_.at(role), std::string{role});
  }

  [[nodiscard]] Templates bert(const Vocabulary& vocabulary) const {
    return bert_templates(id(vocabulary, "cls_token"), id(vocabulary, "sep_token"));
  }

 private:
  const TokenizerFolder& folder_;
  SpecialTokens special_;
};

}  // namespace seqtrain::text::detail
