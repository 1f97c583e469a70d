#pragma once

#include <string_view>

#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// The names of a layer's parts in the state_dict, and rules in which families differ. The defaults
/// are for BERT.
struct LayerForm {
  std::string_view query = "attention.self.query";
  std::string_view key = "attention.self.key";
  std::string_view value = "attention.self.value";
  std::string_view attention_output = "attention.output.dense";
  std::string_view attention_norm = "attention.output.LayerNorm";
  std::string_view intermediate = "intermediate.dense";
  std::string_view output = "output.dense";
  std::string_view output_norm = "output.LayerNorm";
  bool drops_attention_output = true;  ///< dropout also applies to the output of attention
  bool drops_output = true;  ///< dropout also applies to the feed-forward network's output

  /// Returns the probabilities of dropout in an encoder of such layers.
  [[nodiscard]] cpu::DropoutRates dropout(const weights::ModelConfig& config) const {
    const double hidden = config.hidden_dropout_prob;
    return {.embeddings = hidden,
            .attention = config.attention_probs_dropout_prob,
            .attention_output = drops_attention_output ? hidden : 0,
            .output = drops_output ? hidden : 0};
  }
};

}  // namespace seqtrain::model
