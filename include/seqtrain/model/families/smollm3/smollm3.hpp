#pragma once

#include <string_view>

#include <seqtrain/model/families/decoder/decoder.hpp>
#include <seqtrain/model/families/smollm3/config.hpp>

namespace seqtrain::model {

/// SmolLM3 (Bakouch et al. 2025): Llama, of whose layers each fourth has no positions.
struct SmolLM3 : DecoderFamily<SmolLM3> {
  static constexpr std::string_view model_type = "smollm3";
  static constexpr std::string_view classifier = "SmolLM3ForSequenceClassification";

  static constexpr auto read_config = read_smollm3_config;
};

}  // namespace seqtrain::model
