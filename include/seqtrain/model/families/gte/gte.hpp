#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <seqtrain/model/families/gte/config.hpp>
#include <seqtrain/model/families/rotary_bert/rotary_bert.hpp>
#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/classification_head.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/weights/peft_names.hpp>

namespace seqtrain::model {

/// The members that GTE's two forms share (Zhang et al. 2024): BERT with rotary positions and
/// gates. One linear layer computes the gates and then what the activation takes.
template <class Family>
struct GteFamily : RotaryBertFamily<Family> {
  static constexpr bool drops_gates = true;

  /// Makes a layer.
  static LayerParts layer(const Scope& scope, const RotaryBertConfig& config) {
    const std::int64_t hidden = config.hidden_size, inner = config.intermediate_size;
    const std::int64_t all_heads = config.num_attention_heads * config.head_size;
    return {.traits = {.activation = activation_kind(config.hidden_act),
                       .heads = static_cast<std::size_t>(config.num_attention_heads),
                       .gated = true,
                       .activates_second = true,
                       .rope = config.rope},
            .qkv = {{scope / "attention.qkv_proj", hidden, 3 * all_heads}},
            .attention_output = {scope / "attention.o_proj", all_heads, hidden},
            .norm1 = {scope / "attn_ln", hidden, config.layer_norm_eps},
            .intermediate = {scope / "mlp.up_gate_proj", hidden, 2 * inner, false},
            .output = {scope / "mlp.down_proj", inner, hidden},
            .norm2 = {scope / "mlp_ln", hidden, config.layer_norm_eps}};
  }
};

/// GTE as transformers has it.
struct Gte : GteFamily<Gte> {
  static constexpr std::string_view model_type = "gte";
  static constexpr std::string_view prefix = "gte";
  static constexpr std::string_view classifier = "GteForSequenceClassification";
  static constexpr std::array<weights::PeftName, 4> peft_names{
      {{"encoder.layer", {"layers"}},
       {"attention.qkv_proj", {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"}},
       {"attention.o_proj", {"self_attn.o_proj"}},
       {"mlp.up_gate_proj", {"mlp.up_proj", "mlp.gate_proj"}}}};

  static constexpr auto read_config = read_gte_config;

  static HeadForm head_form(const Config&) { return {.dense = "gte.pooler.dense"}; }
};

/// GTE as it was published: with its own Python code, which transformers runs if it is trusted.
struct GteNew : GteFamily<GteNew> {
  static constexpr std::string_view model_type = "new";
  static constexpr std::string_view prefix = "new";
  static constexpr std::string_view classifier = "NewForSequenceClassification";

  static constexpr auto read_config = read_gte_new_config;

  static HeadForm head_form(const Config&) { return {.dense = "new.pooler.dense"}; }
};

}  // namespace seqtrain::model
