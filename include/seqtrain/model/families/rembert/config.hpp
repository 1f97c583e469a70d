#pragma once

#include <cstdint>

#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// RemBERT's config.json.
struct RemBertConfig : weights::ModelConfig {
  std::int64_t embedding_size = 256;
};

/// Reads RemBERT's settings. Throws `InputError` if one is missing, wrong or not supported.
inline RemBertConfig read_rembert_config(const weights::ConfigFile& file) {
  return {weights::read_config(file, {.vocab_size = 250300,
                                      .hidden_size = 1152,
                                      .num_hidden_layers = 32,
                                      .num_attention_heads = 18,
                                      .intermediate_size = 4608,
                                      .hidden_dropout_prob = 0,
                                      .attention_probs_dropout_prob = 0,
                                      .classifier_dropout = 0.1,
                                      .keys = {.classifier_dropout = "classifier_dropout_prob"}}),
          weights::count_in(file, "input_embedding_size", 256)};
}

}  // namespace seqtrain::model
