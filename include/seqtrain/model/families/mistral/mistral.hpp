#pragma once

#include <string_view>

#include <seqtrain/model/families/decoder/decoder.hpp>
#include <seqtrain/model/families/mistral/config.hpp>

namespace seqtrain::model {

/// Mistral (Jiang et al. 2023): Llama with a window on all layers.
struct Mistral : DecoderFamily<Mistral> {
  static constexpr std::string_view model_type = "mistral";
  static constexpr std::string_view classifier = "MistralForSequenceClassification";

  static constexpr auto read_config = read_mistral_config;
};

}  // namespace seqtrain::model
