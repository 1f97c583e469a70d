#pragma once

#include <filesystem>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/text/any_tokenizer.hpp>

namespace seqtrain::text {

/// Reads the tokenizer of a Hugging Face folder. It takes the first that the folder has:
/// tokenizer.json; BERT's vocab.txt; RoBERTa's vocab.json and merges.txt; the words of
/// vocabulary.txt. All but the last also use tokenizer_config.json. All ids have type 0 unless
/// `gives_token_types`. Throws `InputError` if there is
/// no tokenizer, or if it is damaged or not supported.
[[nodiscard]] SEQTRAIN_SEPARATE AnyTokenizer load_tokenizer(const std::filesystem::path& folder);

}  // namespace seqtrain::text

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/text/src/load_tokenizer.hpp>
#endif
