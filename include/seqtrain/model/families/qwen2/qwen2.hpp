#pragma once

#include <string_view>

#include <seqtrain/model/families/decoder/decoder.hpp>
#include <seqtrain/model/families/qwen2/config.hpp>

namespace seqtrain::model {

/// Qwen2 and Qwen2.5 (Yang et al. 2024): Llama with biases of queries, keys and values.
struct Qwen2 : DecoderFamily<Qwen2> {
  static constexpr std::string_view model_type = "qwen2";
  static constexpr std::string_view classifier = "Qwen2ForSequenceClassification";

  static constexpr auto read_config = read_qwen2_config;
};

}  // namespace seqtrain::model
