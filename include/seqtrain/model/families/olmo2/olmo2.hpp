#pragma once

#include <string_view>

#include <seqtrain/model/families/decoder/decoder.hpp>
#include <seqtrain/model/families/olmo2/config.hpp>

namespace seqtrain::model {

/// OLMo 2 (Walsh et al. 2024): Llama whose norms come after its parts, before the residual, with
/// norms of all queries and keys.
struct Olmo2 : DecoderFamily<Olmo2> {
  static constexpr std::string_view model_type = "olmo2";
  static constexpr std::string_view classifier = "Olmo2ForSequenceClassification";
  static constexpr DecoderForm form{.attention_norm = "",
                                    .feed_forward_norm = "",
                                    .attention_result_norm = "post_attention_layernorm",
                                    .result_norm = "post_feedforward_layernorm",
                                    .query_norm = DecoderForm::QueryNorm::all_heads};

  static constexpr auto read_config = read_olmo2_config;
};

}  // namespace seqtrain::model
