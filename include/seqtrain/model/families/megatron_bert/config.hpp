#pragma once

#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// Reads Megatron-BERT's settings. Throws `InputError` if one is missing, wrong or not supported.
inline weights::ModelConfig read_megatron_bert_config(const weights::ConfigFile& file) {
  return weights::read_config(file, {.vocab_size = 29056,
                                     .hidden_size = 1024,
                                     .num_hidden_layers = 24,
                                     .num_attention_heads = 16,
                                     .intermediate_size = 4096,
                                     .keys = {.classifier_dropout = ""}});
}

}  // namespace seqtrain::model
