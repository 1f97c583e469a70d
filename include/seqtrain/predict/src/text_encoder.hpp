#pragma once

#include <seqtrain/predict/text_encoder.hpp>
#include <seqtrain/text/any_tokenizer.hpp>
#include <seqtrain/text/tokenizer_family.hpp>

namespace seqtrain::predict {

SEQTRAIN_SEPARATE TextEncoder::TextEncoder(const text::AnyTokenizer& tokenizer)
    : TextEncoder{tokenizer.visit([](const auto& known) { return TextEncoder{known}; })} {
  long_texts_ = tokenizer.long_texts();
  windows_ = tokenizer.windows();
  if (!windows_) max_length_ = tokenizer.max_length();
}

}  // namespace seqtrain::predict
