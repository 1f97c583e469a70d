#pragma once

#include <seqtrain/model/families/rotary_bert/config.hpp>
#include <seqtrain/weights/config_file.hpp>

namespace seqtrain::model {

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
