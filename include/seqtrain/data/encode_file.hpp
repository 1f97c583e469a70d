#pragma once

#include <filesystem>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/data/encode_file_options.hpp>
#include <seqtrain/data/encoded_file.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/text/any_tokenizer.hpp>

namespace seqtrain::data {

/// Encodes the examples of a file, which may be compressed, of a directory as `TextFolder` reads
/// it, or of a file that `options.read.open` opens. Takes memory for the encoded set and a few
/// parts. The result does not depend on the number of threads. Throws `InputError` with file and
/// line at the first wrong record. For a tokenizer of another class include
/// `data/encode_file_with.hpp`.
SEQTRAIN_SEPARATE EncodedFile encode_file(const std::filesystem::path& path,
                                          const text::AnyTokenizer& tokenizer, const Labels& labels,
                                          const EncodeFileOptions& options = {});

}  // namespace seqtrain::data

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/data/src/encode_file.hpp>
#endif
