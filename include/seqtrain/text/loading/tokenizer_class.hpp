#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/text/loading/tokenizer_folder.hpp>

namespace seqtrain::text {

/// The way in which a class of transformers makes its tokenizer. `file` takes tokenizer.json as it
/// is. All others take only the vocabulary from it or from files of their own, and make the other
/// parts from tokenizer_config.json.
enum class TokenizerKind {
  file,
  bert,
  mpnet,
  roberta,
  xlm_roberta,
  camembert,
  albert,
  deberta,
  deberta_v2,
  esm,
  llama,
  gemma,
  gpt2,
  qwen2
};

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
  constexpr std::array<std::string_view, 7> families{
      "bert", "distilbert", "electra", "deberta-v2", "ernie", "megatron-bert", "nomic_bert"};
  return std::ranges::find(families, model_type) != families.end();
}

using KindOfName = std::pair<std::string_view, TokenizerKind>;

/// The classes that are read. transformers 5 removes `Fast` from the end of a name.
inline constexpr KindOfName tokenizer_classes[] = {
    {"PreTrainedTokenizer", TokenizerKind::file},
    {"TokenizersBackend", TokenizerKind::file},
    {"BertTokenizer", TokenizerKind::bert},
    {"DistilBertTokenizer", TokenizerKind::bert},
    {"ElectraTokenizer", TokenizerKind::bert},
    {"LayoutLMTokenizer", TokenizerKind::bert},
    {"LxmertTokenizer", TokenizerKind::bert},
    {"MobileBertTokenizer", TokenizerKind::bert},
    {"SqueezeBertTokenizer", TokenizerKind::bert},
    {"MPNetTokenizer", TokenizerKind::mpnet},
    {"BartTokenizer", TokenizerKind::roberta},
    {"LEDTokenizer", TokenizerKind::roberta},
    {"LongformerTokenizer", TokenizerKind::roberta},
    {"MvpTokenizer", TokenizerKind::roberta},
    {"RobertaTokenizer", TokenizerKind::roberta},
    {"XLMRobertaTokenizer", TokenizerKind::xlm_roberta},
    {"CamembertTokenizer", TokenizerKind::camembert},
    {"AlbertTokenizer", TokenizerKind::albert},
    {"DebertaTokenizer", TokenizerKind::deberta},
    {"DebertaV2Tokenizer", TokenizerKind::deberta_v2},
    {"EsmTokenizer", TokenizerKind::esm},
    {"LlamaTokenizer", TokenizerKind::llama},
    {"GemmaTokenizer", TokenizerKind::gemma},
    {"GPT2Tokenizer", TokenizerKind::gpt2},
    {"Qwen2Tokenizer", TokenizerKind::qwen2}};

/// The `model_type`s of which transformers ignores the class that a file names.
inline constexpr KindOfName kinds_without_class[] = {{"mistral", TokenizerKind::file},
                                                     {"modernbert", TokenizerKind::file},
                                                     {"olmo2", TokenizerKind::file},
                                                     {"phi3", TokenizerKind::file},
                                                     {"qwen2", TokenizerKind::qwen2}};

/// The class that transformers 5 takes for a `model_type` if no file names one.
inline constexpr KindOfName kinds_of_model_types[] = {
    {"albert", TokenizerKind::albert},
    {"bart", TokenizerKind::roberta},
    {"bert", TokenizerKind::bert},
    {"camembert", TokenizerKind::camembert},
    {"data2vec-text", TokenizerKind::roberta},
    {"deberta", TokenizerKind::deberta},
    {"deberta-v2", TokenizerKind::deberta_v2},
    {"distilbert", TokenizerKind::bert},
    {"electra", TokenizerKind::bert},
    {"ernie", TokenizerKind::bert},
    {"esm", TokenizerKind::esm},
    {"gemma2", TokenizerKind::gemma},
    {"gemma3_text", TokenizerKind::gemma},
    {"gpt2", TokenizerKind::gpt2},
    {"gte", TokenizerKind::xlm_roberta},
    {"llama", TokenizerKind::file},
    {"longformer", TokenizerKind::roberta},
    {"megatron-bert", TokenizerKind::bert},
    {"mpnet", TokenizerKind::mpnet},
    {"nomic_bert", TokenizerKind::bert},
    {"qwen3", TokenizerKind::qwen2},
    {"roberta", TokenizerKind::roberta},
    {"roberta-prelayernorm", TokenizerKind::roberta},
    {"smollm3", TokenizerKind::file},
    {"xlm-roberta", TokenizerKind::xlm_roberta}};

template <class Table>
[[nodiscard]] std::optional<TokenizerKind> find_kind(const Table& table, std::string_view name) {
  const auto found = std::ranges::find(table, name, &KindOfName::first);
  return found == std::end(table) ? std::nullopt : std::optional{found->second};
}

[[nodiscard]] inline TokenizerKind kind_of_class(const json::Value& value) {
  std::string_view name = value.string();
  if (name.ends_with("Fast")) name.remove_suffix(4);
  if (const auto kind = find_kind(tokenizer_classes, name)) return *kind;
  throw value.error("the tokenizer class " + std::string{value.string()} + " is not supported",
                    "if AutoTokenizer.from_pretrained(…).is_fast is true in transformers, save it "
                    "once with save_pretrained as a fast tokenizer and write \"tokenizer_class\": "
                    "\"PreTrainedTokenizerFast\" into its tokenizer_config.json");
}

/// Tells whether a folder's tokenizer.json names a part ByteLevel. LlamaTokenizer has no such part,
/// so transformers then takes the file as it is.
[[nodiscard]] inline bool has_bytes(const TokenizerFolder& folder) {
  return folder.tokenizer() && MappedFile{folder.at("tokenizer.json")}.text().find(
                                   "\"ByteLevel\"") != std::string_view::npos;
}

/// Returns the class that tokenizer_config.json names, else the one that config.json names.
[[nodiscard]] inline std::optional<json::Value> named_class(const TokenizerFolder& folder) {
  for (const auto& file : {folder.settings(), folder.config()}) {
    const auto name = file ? file->find("tokenizer_class") : std::nullopt;
    if (name && !name->string().empty()) return name;
  }
  return {};
}

/// Throws `InputError` if a folder has its tokenizer as Python code or in files for several
/// versions of transformers.
inline void refuse_other_files(const TokenizerFolder& folder) {
  const auto map = folder.setting("auto_map");
  if (map && (map->is_array() || map->find("AutoTokenizer"))) {
    throw map->error("a tokenizer that is Python code is not supported");
  }
  if (const auto files = folder.setting("fast_tokenizer_files")) {
    throw files->error("is not supported", "keep one tokenizer.json and remove this entry");
  }
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
  const auto config = folder.config();
  auto name = folder.setting("tokenizer_class");
  if (!name && config) name = config->find("tokenizer_class");
  if (name) return detail::class_gives_token_types(name->string());
  if (!config) return true;
  const auto type = config->find("model_type");
  return !type || detail::family_gives_token_types(type->string());
}

/// Decides how the tokenizer of a folder is made, as AutoTokenizer of transformers 5 does: by the
/// class that a file names, else by config.json's `model_type`, else by the files. Throws
/// `InputError` that names the class if it is not supported.
[[nodiscard]] inline TokenizerKind tokenizer_kind(const TokenizerFolder& folder) {
  detail::refuse_other_files(folder);
  const auto config = folder.config();
  const auto type = config ? config->find("model_type") : std::nullopt;
  const auto find = [&](const auto& table) {
    return type ? detail::find_kind(table, type->string()) : std::nullopt;
  };
  if (const auto always = find(detail::kinds_without_class)) return *always;
  if (const auto name = detail::named_class(folder)) {
    const TokenizerKind kind = detail::kind_of_class(*name);
    return kind == TokenizerKind::llama && detail::has_bytes(folder) ? TokenizerKind::file : kind;
  }
  if (const auto usual = find(detail::kinds_of_model_types)) return *usual;
  if (folder.has("tokenizer.json")) return TokenizerKind::file;
  if (folder.has("vocab.txt")) return TokenizerKind::bert;
  if (folder.has("vocab.json") && folder.has("merges.txt")) return TokenizerKind::roberta;
  throw InputError{"has no tokenizer",
                   {.object = folder.path().string()},
                   "tokenizer.json, vocab.txt, vocab.json with merges.txt, or vocabulary.txt is "
                   "needed; a SentencePiece model also needs the tokenizer_class of "
                   "tokenizer_config.json or the model_type of config.json"};
}

}  // namespace seqtrain::text
