#pragma once

#include <seqtrain/model/families/roberta/config.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// Reads the config.json of MPNet. transformers computes with 32 distances and padding 1 whatever a
/// file says, so other values are refused.
inline weights::ModelConfig read_mpnet_config(const weights::ConfigFile& file) {
  auto config =
      weights::read_config(file, {.vocab_size = 30527,
                                  .type_vocab_size = 0,
                                  .pad_token_id = 1,
                                  .keys = {.classifier_dropout = "", .type_vocab_size = ""}});
  if (config.pad_token_id == weights::no_pad_token) config.pad_token_id = 1;
  const weights::FieldCheck check{file.name()};
  check.equal(config.pad_token_id, 1, "pad_token_id");
  constexpr const char* buckets = "relative_attention_num_buckets";
  check.equal(weights::count_in(file, buckets, 32), 32, buckets);
  check_positions_after_padding(file, config);
  return config;
}

}  // namespace seqtrain::model
