#pragma once

#include <cstdint>

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
  check_even_head(file, config.head_size);
  return config;
}

}  // namespace seqtrain::model
