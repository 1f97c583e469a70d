#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include <seqtrain/core/json.hpp>
#include <seqtrain/text/loading/tokenizer_folder.hpp>

namespace seqtrain::text {
namespace detail {

/// Tells whether a tokenizer class of transformers 5 has token types among its
/// `model_input_names`. Classes that are not listed, such as `PreTrainedTokenizerFast`, have none.
[[nodiscard]] inline bool class_gives_token_types(std::string_view name) {
  if (name.ends_with("Fast")) name.remove_suffix(4);
  constexpr std::array<std::string_view, 7> classes{
      "BertTokenizer",   "DebertaV2Tokenizer",  "ElectraTokenizer",    "LayoutLMTokenizer",
      "LxmertTokenizer", "MobileBertTokenizer", "SqueezeBertTokenizer"};
  return std::ranges::find(classes, name) != classes.end();
}

/// Tells whether the tokenizers of that family give token types if no file names their class.
[[nodiscard]] inline bool family_gives_token_types(std::string_view model_type) {
  return model_type == "bert" || model_type == "distilbert" || model_type == "electra" ||
         model_type == "deberta-v2";
}

}  // namespace detail

/// Tells whether a model gets the token types of a folder's tokenizer, as in transformers 5:
/// `model_input_names` in tokenizer_config.json decides, else the tokenizer's class, else the
/// `model_type` in config.json. If the folder has none of them, it does.
[[nodiscard]] inline bool gives_token_types(const TokenizerFolder& folder) {
  if (const auto names = folder.setting("model_input_names")) {
    return std::ranges::any_of(
        names->items(), [](const json::Value& name) { return name.string() == "token_type_ids"; });
  }
  if (const auto name = folder.setting("tokenizer_class")) {
    return detail::class_gives_token_types(name->string());
  }
  const auto config = folder.config();
  if (!config) return true;
  if (const auto name = config->find("tokenizer_class")) {
    return detail::class_gives_token_types(name->string());
  }
  const auto type = config->find("model_type");
  return !type || detail::family_gives_token_types(type->string());
}

}  // namespace seqtrain::text
