#pragma once

#include <cstdint>

#include <seqtrain/model/families/rotary_bert/config.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

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
  config.type_vocab_size = 1;
  weights::read(file.root(), "type_vocab_size", config.type_vocab_size);
  weights::FieldCheck{file.name()}.require(config.type_vocab_size >= 0, "type_vocab_size",
                                           "negative");
  return config;
}

}  // namespace seqtrain::model
