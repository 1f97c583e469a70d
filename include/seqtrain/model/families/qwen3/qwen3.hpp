#pragma once

#include <string_view>

#include <seqtrain/model/families/decoder/decoder.hpp>
#include <seqtrain/model/families/qwen3/config.hpp>

namespace seqtrain::model {

/// Qwen3 (Yang et al. 2025): Llama with norms of each head's queries and keys.
struct Qwen3 : DecoderFamily<Qwen3> {
  static constexpr std::string_view model_type = "qwen3";
  static constexpr std::string_view classifier = "Qwen3ForSequenceClassification";
  static constexpr DecoderForm form{.query_norm = DecoderForm::QueryNorm::each_head};

  static constexpr auto read_config = read_qwen3_config;
};

}  // namespace seqtrain::model
