#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/text/any_tokenizer.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>
#include <seqtrain/text/loading/special_tokens.hpp>
#include <seqtrain/text/loading/token_types.hpp>
#include <seqtrain/text/loading/tokenizer_file_names.hpp>
#include <seqtrain/text/loading/tokenizer_files.hpp>
#include <seqtrain/text/loading/tokenizer_json.hpp>
#include <seqtrain/text/loading/word_list.hpp>

namespace seqtrain::text {

namespace detail {

inline void leave_out_token_types(AnyTokenizer::Family& tokenizer) {
  std::visit(
      [](auto& family) {
        if constexpr (requires { family.leave_out_token_types(); }) family.leave_out_token_types();
      },
      tokenizer);
}

}  // namespace detail

[[nodiscard]] SEQTRAIN_SEPARATE AnyTokenizer load_tokenizer(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    throw InputError{"no such directory", {.object = folder.string()}};
  }
  const auto has = [&](const char* name) { return std::filesystem::exists(folder / name); };
  const TokenizerConfig config{folder};
  auto files = tokenizer_files(folder);
  std::vector<std::string> warnings;
  const auto read = [&](const char* source, const auto& reader) {
    try {
      AnyTokenizer::Family tokenizer{reader()};
      if (!gives_token_types(config, folder)) detail::leave_out_token_types(tokenizer);
      return AnyTokenizer{std::move(tokenizer), std::move(files), std::move(warnings)};
    } catch (const InputError& error) {
      if (!error.where().object.empty()) throw;
      throw InputError{error.what(), {.object = (folder / source).string()}};
    }
  };
  if (has("tokenizer.json")) {
    const auto document = json::Document::load(folder / "tokenizer.json");
    return read("tokenizer.json", [&] {
      const TokenizerJson file{document, config};
      warnings = file.warnings();
      return file.read();
    });
  }
  if (has("vocab.txt")) {
    return read("vocab.txt", [&] { return read_bert_files(folder, config); });
  }
  if (has("vocab.json") && has("merges.txt")) {
    return read("vocab.json", [&] { return read_roberta_files(folder, config); });
  }
  if (has("vocabulary.txt")) {
    return read("vocabulary.txt",
                [&] { return make_word_tokenizer(read_word_list(folder / "vocabulary.txt")); });
  }
  for (const char* name :
       {"sentencepiece.bpe.model", "spiece.model", "spm.model", "tokenizer.model"}) {
    if (!has(name)) continue;
    throw InputError{
        "its ids do not follow from this file alone: each model family numbers them in its own way",
        {.object = (folder / name).string()},
        "add the tokenizer.json that transformers' save_pretrained writes"};
  }
  throw InputError{"has no tokenizer",
                   {.object = folder.string()},
                   "tokenizer.json, vocab.txt, vocab.json with merges.txt, or vocabulary.txt is "
                   "needed"};
}

}  // namespace seqtrain::text
