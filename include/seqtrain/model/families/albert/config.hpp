#pragma once

#include <cstdint>
#include <string>

#include <seqtrain/core/error.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// ALBERT's config.json.
struct AlbertConfig : weights::ModelConfig {
  std::int64_t embedding_size = 128;
  std::int64_t num_hidden_groups = 1;  ///< groups of layers that share their weights
  std::int64_t inner_group_num = 1;    ///< layers with weights of their own in a group
};

/// Reads ALBERT's settings. Throws `InputError` if one is missing, wrong or not supported.
inline AlbertConfig read_albert_config(const weights::ConfigFile& file) {
  const AlbertConfig config{
      weights::read_config(file, {.vocab_size = 30000,
                                  .hidden_size = 4096,
                                  .num_attention_heads = 64,
                                  .intermediate_size = 16384,
                                  .hidden_act = "gelu_new",
                                  .hidden_dropout_prob = 0,
                                  .attention_probs_dropout_prob = 0,
                                  .classifier_dropout = 0.1,
                                  .keys = {.classifier_dropout = "classifier_dropout_prob"}}),
      weights::count_in(file, "embedding_size", 128),
      weights::count_in(file, "num_hidden_groups", 1),
      weights::count_in(file, "inner_group_num", 1)};
  if (config.num_hidden_groups <= config.num_hidden_layers) return config;
  throw InputError{std::to_string(config.num_hidden_groups) + " is above num_hidden_layers, " +
                       std::to_string(config.num_hidden_layers),
                   {.object = file.name(), .field = "num_hidden_groups"}};
}

}  // namespace seqtrain::model
