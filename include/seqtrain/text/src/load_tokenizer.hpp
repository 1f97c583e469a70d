#pragma once

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include <seqtrain/core/error.hpp>
#include <seqtrain/text/any_tokenizer.hpp>
#include <seqtrain/text/loading/decoder_classes.hpp>
#include <seqtrain/text/loading/esm_class.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>
#include <seqtrain/text/loading/tokenizer_class.hpp>
#include <seqtrain/text/loading/tokenizer_folder.hpp>
#include <seqtrain/text/loading/tokenizer_json.hpp>
#include <seqtrain/text/loading/unigram_classes.hpp>
#include <seqtrain/text/loading/word_classes.hpp>
#include <seqtrain/text/loading/word_list.hpp>
#include <seqtrain/text/tokenizer_family.hpp>
#include <seqtrain/text/windows.hpp>

namespace seqtrain::text {
namespace detail {

[[nodiscard]] inline AnyTokenizer::Family read_kind(TokenizerKind kind,
                                                    const TokenizerFolder& folder) {
  switch (kind) {
    case TokenizerKind::bert:
      return read_bert_class(folder);
    case TokenizerKind::mpnet:
      return read_mpnet_class(folder);
    case TokenizerKind::roberta:
      return read_roberta_class(folder);
    case TokenizerKind::xlm_roberta:
      return read_xlm_roberta_class(folder);
    case TokenizerKind::camembert:
      return read_camembert_class(folder);
    case TokenizerKind::albert:
      return read_albert_class(folder);
    case TokenizerKind::deberta:
      return read_deberta_class(folder);
    case TokenizerKind::deberta_v2:
      return read_deberta_v2_class(folder);
    case TokenizerKind::esm:
      return read_esm_class(folder);
    case TokenizerKind::llama:
      return read_llama_class(folder);
    case TokenizerKind::gemma:
      return read_gemma_class(folder);
    case TokenizerKind::gpt2:
      return read_gpt2_class(folder);
    case TokenizerKind::qwen2:
      return std::visit([](auto&& read) { return AnyTokenizer::Family{std::move(read)}; },
                        read_qwen2_class(folder));
    case TokenizerKind::file:
      break;
  }
  if (const auto root = folder.tokenizer()) return TokenizerJson{*root, folder}.read();
  throw InputError{"has no tokenizer.json",
                   {.object = folder.path().string()},
                   "the class of its tokenizer needs it; transformers' save_pretrained writes it"};
}

/// Returns windows with the stride and the pooling of a folder.
[[nodiscard]] inline Windows window_settings(const TokenizerFolder& folder) {
  const auto stride = folder.setting("window_stride"), pooling = folder.setting("window_pooling");
  if (stride && stride->integer() < 0) throw stride->error("must not be negative");
  if (pooling && pooling->string() != "max") refuse(*pooling, "max");
  return {.stride = stride ? static_cast<std::size_t>(stride->integer()) : 0,
          .pooling = pooling ? WindowPooling::max : WindowPooling::mean};
}

/// Tells whether a folder has the words of fastai and no other vocabulary.
[[nodiscard]] inline bool has_only_words(const TokenizerFolder& folder) {
  const auto has = [&](std::string_view name) { return folder.has(name); };
  return has("vocabulary.txt") && std::ranges::none_of(vocabulary_file_names, has);
}

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
  const TokenizerFolder files{folder};
  const auto read = [&](std::string_view source, const auto& reader) {
    try {
      AnyTokenizer::Family tokenizer{reader()};
      if (!gives_token_types(files)) detail::leave_out_token_types(tokenizer);
      return AnyTokenizer{std::move(tokenizer), tokenizer_files(folder), tokenizer_warnings(files),
                          detail::max_length_of(files), detail::window_settings(files)};
    } catch (const InputError& error) {
      if (!error.where().object.empty()) throw;
      throw InputError{error.what(), {.object = (folder / source).string()}};
    }
  };
  if (detail::has_only_words(files)) {
    return read("vocabulary.txt",
                [&] { return make_word_tokenizer(read_word_list(folder / "vocabulary.txt")); });
  }
  const TokenizerKind kind = tokenizer_kind(files);
  const auto source = std::ranges::find_if(vocabulary_file_names,
                                           [&](std::string_view name) { return files.has(name); });
  return read(source == std::end(vocabulary_file_names) ? "" : *source,
              [&] { return detail::read_kind(kind, files); });
}

}  // namespace seqtrain::text
