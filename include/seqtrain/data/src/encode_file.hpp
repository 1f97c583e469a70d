#pragma once

#include <filesystem>

#include <seqtrain/data/encode_file.hpp>
#include <seqtrain/data/encode_file_with.hpp>
#include <seqtrain/text/any_tokenizer.hpp>
#include <seqtrain/text/tokenizer_family.hpp>

namespace seqtrain::data {

SEQTRAIN_SEPARATE EncodedFile encode_file(const std::filesystem::path& path,
                                          const text::AnyTokenizer& tokenizer, const Labels& labels,
                                          const EncodeFileOptions& options) {
  return tokenizer.visit(
      [&](const auto& known) { return encode_file(path, known, labels, options); });
}

}  // namespace seqtrain::data
