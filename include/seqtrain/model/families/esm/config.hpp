#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/model/families/decoder/rope.hpp>
#include <seqtrain/model/families/roberta/config.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// ESM's config.json.
struct EsmConfig : weights::ModelConfig {
  bool rotary = false;              ///< positions rotate queries and keys, and have no table
  double rope_theta = 10'000;       ///< the base of rotary positions
  bool norms_embeddings = false;    ///< embeddings have a norm
  bool token_dropout = false;       ///< embeddings are scaled as in training with masked tokens
  std::int64_t mask_token_id = -1;  ///< the token whose embedding is 0 if `token_dropout`
};

/// Reads ESM's settings. A file without a vocabulary's size has that of ESM's amino acids. Throws
/// `InputError` if one is missing, wrong or not supported.
inline EsmConfig read_esm_config(const weights::ConfigFile& file) {
  const json::Value root = file.root();
  EsmConfig config{weights::read_config(file, {.vocab_size = 33,
                                               .max_position_embeddings = 1026,
                                               .type_vocab_size = 0,
                                               .pad_token_id = 1,
                                               .keys = {.hidden_act = "",
                                                        .classifier_dropout = "",
                                                        .type_vocab_size = "",
                                                        .position_embedding_type = ""}})};
  check_positions_after_padding(file, config);
  const weights::FieldCheck check{file.name()};
  std::string positions = "absolute";
  weights::read(root, "position_embedding_type", positions);
  check.one_of(positions, "position_embedding_type",
               std::vector<std::string>{"absolute", "rotary"});
  config.rotary = positions == "rotary";
  detail::read_positive(root, "rope_theta", config.rope_theta);
  const std::int64_t size = config.hidden_size / config.num_attention_heads;
  check.require(!config.rotary || size % 2 == 0, "num_attention_heads",
                "rotary positions need heads of an even size");
  check.equal(weights::count_in(file, "head_dim", size), size, "head_dim");
  weights::read(root, "emb_layer_norm_before", config.norms_embeddings);
  weights::read(root, "token_dropout", config.token_dropout);
  weights::read(root, "mask_token_id", config.mask_token_id);
  check.require(!config.token_dropout || config.mask_token_id >= 0, "mask_token_id",
                "missing, and token_dropout is true");
  bool folds = false;
  weights::read(root, "is_folding_model", folds);
  check.require(!folds, "is_folding_model", "true is not supported");
  return config;
}

}  // namespace seqtrain::model
