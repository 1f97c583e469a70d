#pragma once

#include <string_view>

#include <seqtrain/model/families/decoder/decoder.hpp>
#include <seqtrain/model/families/gemma/config.hpp>

namespace seqtrain::model {

/// The layers of Gemma 2: norms before and after each part.
inline constexpr DecoderForm gemma_form{.feed_forward_norm = "pre_feedforward_layernorm",
                                        .attention_result_norm = "post_attention_layernorm",
                                        .result_norm = "post_feedforward_layernorm",
                                        .norm_offset = 1,
                                        .scales_embeddings = true};

/// Gemma 2 (Gemma Team 2024): windows on each second layer, and scores that a tanh bounds.
struct Gemma2 : DecoderFamily<Gemma2> {
  static constexpr std::string_view model_type = "gemma2";
  static constexpr std::string_view classifier = "Gemma2ForSequenceClassification";
  static constexpr DecoderForm form = gemma_form;

  static constexpr auto read_config = read_gemma2_config;
};

/// Gemma 3 for texts (Gemma Team 2025): norms of each head's queries and keys, and other rotary
/// positions on layers with a window.
struct Gemma3Text : DecoderFamily<Gemma3Text> {
  static constexpr std::string_view model_type = "gemma3_text";
  static constexpr std::string_view classifier = "Gemma3TextForSequenceClassification";
  static constexpr DecoderForm form = [] {
    DecoderForm result = gemma_form;
    result.query_norm = DecoderForm::QueryNorm::each_head;
    return result;
  }();

  static constexpr auto read_config = read_gemma3_text_config;
};

}  // namespace seqtrain::model
