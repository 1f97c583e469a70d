#pragma once

#include <seqtrain/model/families/roberta/config.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// Reads XLM-RoBERTa-XL's settings. Throws `InputError` if one is missing, wrong or not supported.
inline weights::ModelConfig read_xlm_roberta_xl_config(const weights::ConfigFile& file) {
  auto config = weights::read_config(file, {.vocab_size = 250880,
                                            .hidden_size = 2560,
                                            .num_hidden_layers = 36,
                                            .num_attention_heads = 32,
                                            .intermediate_size = 10240,
                                            .max_position_embeddings = 514,
                                            .type_vocab_size = 1,
                                            .layer_norm_eps = 1e-5,
                                            .pad_token_id = 1});
  check_positions_after_padding(file, config);
  return config;
}

}  // namespace seqtrain::model
