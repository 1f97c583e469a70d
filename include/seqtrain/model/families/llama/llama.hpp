#pragma once

#include <string_view>

#include <seqtrain/model/families/decoder/decoder.hpp>
#include <seqtrain/model/families/llama/config.hpp>

namespace seqtrain::model {

/// Llama (Touvron et al. 2023): a decoder with RMSNorm before its parts, rotary positions, gates,
/// and keys that several heads of queries share.
struct Llama : DecoderFamily<Llama> {
  static constexpr std::string_view model_type = "llama";
  static constexpr std::string_view classifier = "LlamaForSequenceClassification";

  static constexpr auto read_config = read_llama_config;
};

}  // namespace seqtrain::model
