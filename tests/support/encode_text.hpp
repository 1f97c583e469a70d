#pragma once

#include <seqtrain/data/encode_file_with.hpp>
#include <seqtrain/data/reader.hpp>

namespace seqtrain::tests {

/// Encodes the examples of a text as `data::encode_file` does those of a file.
template <text::Tokenizer T>
data::EncodedFile encode_text(const data::Source& source, const T& tokenizer,
                              const data::Labels& names,
                              const data::EncodeFileOptions& options = {}) {
  options.validate();
  const data::Reader reader{source, data::detail::read_options(options, names)};
  return data::detail::encode_whole(reader, tokenizer, names, options);
}

}  // namespace seqtrain::tests
