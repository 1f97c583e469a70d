#pragma once

#include <filesystem>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/text/any_tokenizer.hpp>

namespace seqtrain::text {

/// Reads the tokenizer of a Hugging Face folder as AutoTokenizer of transformers 5 does:
/// config.json and tokenizer_config.json name its class, and `tokenizer_kind` says which classes
/// are read. A folder with the words of vocabulary.txt and no other vocabulary has a
/// `WordTokenizer`. All ids have type 0 unless `gives_token_types`. Throws `InputError` if there is
/// no tokenizer, or if it is damaged or not supported.
[[nodiscard]] SEQTRAIN_SEPARATE AnyTokenizer load_tokenizer(const std::filesystem::path& folder);

}  // namespace seqtrain::text

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/text/src/load_tokenizer.hpp>
#endif
