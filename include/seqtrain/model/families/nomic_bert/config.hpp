#pragma once

#include <cstdint>
#include <string>

#include <seqtrain/model/families/decoder/config.hpp>
#include <seqtrain/model/families/decoder/rope.hpp>
#include <seqtrain/model/nn/rope.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// The config.json of BERT with rotary positions.
struct RotaryBertConfig : weights::ModelConfig {
  Rope rope = {};
  std::int64_t head_size = 0;
};

/// Reads the fields of BERT and its rotary positions, whose base is `base` if the file has none.
/// Throws `InputError` if one is missing, wrong or not supported.
[[nodiscard]] inline RotaryBertConfig read_rotary_bert_config(const weights::ConfigFile& file,
                                                              const weights::ModelConfig& defaults,
                                                              double base) {
  RotaryBertConfig config{weights::read_config(file, defaults)};
  config.rope = rope_of_all_layers(file.root(), base, config.max_position_embeddings);
  check_not_partial(file, config.rope);
  config.head_size =
      weights::count_in(file, "head_dim", config.hidden_size / config.num_attention_heads);
  weights::FieldCheck{file.name()}.require(
      config.head_size % 2 == 0, "head_dim",
      "rotary positions need heads of an even size, not " + std::to_string(config.head_size));
  return config;
}

/// Reads Nomic BERT's settings. Throws `InputError` if one is missing, wrong or not supported.
inline RotaryBertConfig read_nomic_bert_config(const weights::ConfigFile& file) {
  return read_rotary_bert_config(file,
                                 {.vocab_size = 30528,
                                  .hidden_act = "silu",
                                  .hidden_dropout_prob = 0,
                                  .attention_probs_dropout_prob = 0,
                                  .max_position_embeddings = 2048,
                                  .may_have_silu = true},
                                 1000);
}

}  // namespace seqtrain::model
