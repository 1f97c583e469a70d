#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include <seqtrain/core/json.hpp>
#include <seqtrain/model/families/decoder/config.hpp>
#include <seqtrain/model/families/decoder/rope.hpp>
#include <seqtrain/model/families/rotary_bert/config.hpp>
#include <seqtrain/model/nn/rope.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// Reads the number of token types, which may be 0.
inline void read_token_types(const weights::ConfigFile& file, RotaryBertConfig& config) {
  config.type_vocab_size = 1;
  weights::read(file.root(), "type_vocab_size", config.type_vocab_size);
  weights::FieldCheck{file.name()}.require(config.type_vocab_size >= 0, "type_vocab_size",
                                           "negative");
}

/// Reads GTE's settings. Throws `InputError` if one is missing, wrong or not supported.
inline RotaryBertConfig read_gte_config(const weights::ConfigFile& file) {
  auto config = read_rotary_bert_config(file,
                                        {.vocab_size = 250048,
                                         .attention_probs_dropout_prob = 0,
                                         .max_position_embeddings = 8192,
                                         .type_vocab_size = 0,
                                         .pad_token_id = 1,
                                         .keys = {.type_vocab_size = ""},
                                         .may_have_silu = true},
                                        160'000);
  read_token_types(file, config);
  return config;
}

namespace detail {

/// Throws `InputError` if a setting of GTE's own code has another value than its usual one.
inline void check_gte_new(const weights::ConfigFile& file) {
  const weights::FieldCheck check{file.name()};
  std::string norm = "layer_norm", positions = "rope";
  bool packs = true, scales = false;
  weights::read(file.root(), "layer_norm_type", norm);
  weights::read(file.root(), "position_embedding_type", positions);
  weights::read(file.root(), "pack_qkv", packs);
  weights::read(file.root(), "logn_attention_scale", scales);
  check.require(norm == "layer_norm", "layer_norm_type",
                "'" + norm + "' is not supported; supported is layer_norm");
  check.require(positions == "rope", "position_embedding_type",
                "'" + positions + "' is not supported; supported is rope");
  check.require(packs, "pack_qkv", "false is not supported");
  check.require(!scales, "logn_attention_scale", "true is not supported");
}

/// Reads the rotary positions of GTE's own code, from `rope_scaling` or, as transformers 5 writes
/// them, from `rope_parameters`. With the factor f, `ntk` has the base times f and angles divided
/// by f^(2 / head size), as that code has it.
inline Rope gte_new_rope(const json::Value& root, std::int64_t head_size) {
  Rope rope{.base = 10'000};
  read_positive(root, "rope_theta", rope.base);
  auto scaling = root.find("rope_scaling");
  if (!scaling) scaling = root.find("rope_parameters");
  if (!scaling) return rope;
  read_positive(*scaling, "rope_theta", rope.base);
  const auto type = scaling->at(scaling->find("rope_type") ? "rope_type" : "type");
  if (type.string() == "default") return rope;
  if (type.string() != "ntk") {
    throw type.error("'" + std::string{type.string()} + "' is not supported",
                     "supported are default and ntk");
  }
  if (const auto mixed = scaling->find("mixed_b")) throw mixed->error("is not supported");
  const double factor = scaling->at("factor").number();
  if (!(factor >= 1)) throw scaling->at("factor").error("is below 1");
  rope.base *= factor;
  rope.scaling = Rope::Scaling::linear;
  rope.factor = std::pow(factor, 2 / static_cast<double>(head_size));
  return rope;
}

}  // namespace detail

/// Reads the settings of a GTE with its own code. Throws `InputError` if one is missing, wrong or
/// not supported.
inline RotaryBertConfig read_gte_new_config(const weights::ConfigFile& file) {
  RotaryBertConfig config{
      weights::read_config(file, {.vocab_size = 30528,
                                  .attention_probs_dropout_prob = 0,
                                  .max_position_embeddings = 2048,
                                  .keys = {.type_vocab_size = "", .position_embedding_type = ""},
                                  .may_have_silu = true})};
  detail::check_gte_new(file);
  read_token_types(file, config);
  config.head_size = config.hidden_size / config.num_attention_heads;
  check_even_head(file, config.head_size);
  config.rope = detail::gte_new_rope(file.root(), config.head_size);
  return config;
}

}  // namespace seqtrain::model
