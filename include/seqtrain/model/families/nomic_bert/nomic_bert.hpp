#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <seqtrain/model/families/nomic_bert/config.hpp>
#include <seqtrain/model/families/rotary_bert/rotary_bert.hpp>
#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/classification_head.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/weights/peft_names.hpp>

namespace seqtrain::model {

/// Nomic BERT (Nussbaum et al. 2024): BERT with rotary positions and gates. Its files have one
/// linear layer of queries, keys and values, whose names are those of the first version.
struct NomicBert : RotaryBertFamily<NomicBert> {
  static constexpr std::string_view model_type = "nomic_bert";
  static constexpr std::string_view prefix = "nomic_bert";
  static constexpr std::string_view classifier = "NomicBertForSequenceClassification";
  static constexpr std::string_view layers = "encoder.layers";
  static constexpr std::string_view embedding_norm = "emb_ln";

  static constexpr std::array<weights::PeftName, 6> peft_names{
      {{"encoder.layers", {"layers"}},
       {"attn.Wqkv", {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"}},
       {"attn.out_proj", {"self_attn.o_proj"}},
       {"mlp.fc11", {"mlp.up_proj"}},
       {"mlp.fc12", {"mlp.gate_proj"}},
       {"mlp.fc2", {"mlp.down_proj"}}}};

  static constexpr auto read_config = read_nomic_bert_config;

  static HeadForm head_form(const Config&) { return {.dense = "nomic_bert.pooler.dense"}; }

  /// Makes a layer.
  static LayerParts layer(const Scope& scope, const Config& config) {
    const std::int64_t hidden = config.hidden_size, inner = config.intermediate_size;
    const std::int64_t all_heads = config.num_attention_heads * config.head_size;
    return {.traits = {.activation = activation_kind(config.hidden_act),
                       .heads = static_cast<std::size_t>(config.num_attention_heads),
                       .gated = true,
                       .rope = config.rope},
            .qkv = {{scope / "attn.Wqkv", hidden, 3 * all_heads, false}},
            .attention_output = {scope / "attn.out_proj", all_heads, hidden, false},
            .norm1 = {scope / "norm1", hidden, config.layer_norm_eps},
            .intermediate = {scope / "mlp.fc12", hidden, inner, false},
            .output = {scope / "mlp.fc2", inner, hidden, false},
            .norm2 = {scope / "norm2", hidden, config.layer_norm_eps},
            .gate = Linear{scope / "mlp.fc11", hidden, inner, false}};
  }
};

}  // namespace seqtrain::model
