#pragma once

#include <filesystem>
#include <string>

#include <seqtrain/data/labels.hpp>
#include <seqtrain/text/any_tokenizer.hpp>
#include <seqtrain/text/encoding.hpp>

namespace seqtrain::bench {

/// The input of all cases: sentence pairs as JSON lines.
struct Input {
  std::filesystem::path file;
  text::AnyTokenizer tokenizer;
  data::Labels labels;
  text::EncodeOptions options;
  std::filesystem::path parquet = {};  ///< the same records as Parquet; empty if not given
};

void add_seqtrain(const Input& input);
void add_usual(const Input& input);
void add_parquet(const Input& input);

}  // namespace seqtrain::bench
