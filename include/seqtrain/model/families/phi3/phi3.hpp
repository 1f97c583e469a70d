#pragma once

#include <string_view>

#include <seqtrain/model/families/decoder/decoder.hpp>
#include <seqtrain/model/families/phi3/config.hpp>

namespace seqtrain::model {

/// Phi-3 (Abdin et al. 2024): Llama with fused linear layers.
struct Phi3 : DecoderFamily<Phi3> {
  static constexpr std::string_view model_type = "phi3";
  static constexpr std::string_view classifier = "Phi3ForSequenceClassification";
  static constexpr DecoderForm form{.fused = true};
  using Config = Phi3Config;

  static constexpr auto read_config = read_phi3_config;
};

}  // namespace seqtrain::model
